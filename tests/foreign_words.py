"""A function that stands in no module of the model that calls it."""

from falsework import implies


def follows(premise: object, conclusion: object) -> bool:
    return implies(premise, conclusion)
