"""What turns a conversation into events: the embedded reader, language models, your own."""
