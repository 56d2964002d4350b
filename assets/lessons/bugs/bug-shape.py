def target_choices(model, text, guesses):
    """The target's first choice after the text and after each guess."""
    block = torch.tensor(text[-1:] + guesses)
    block = block.view(-1, 1)
    # fix:     block = block.view(1, -1)
    logits = model(block, past=text[:-1])
    return logits.reshape(len(guesses) + 1, -1).argmax(-1).tolist()
