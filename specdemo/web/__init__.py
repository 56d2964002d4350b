"""What every page of this project is made of: its scripts, styles, colours, texts. Without any library."""
