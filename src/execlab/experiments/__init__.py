"""Pictures of what runs recorded."""
