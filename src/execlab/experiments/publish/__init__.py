"""From rows to what is published: figures, the report page, and the blocks of documents."""
