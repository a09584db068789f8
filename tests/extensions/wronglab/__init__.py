"""Classes that break their contract, each in one way; test_wrong.py has the sentence that each gets."""
