"""Whether a tree of groups can start, by trying everything: which groups, which domains, which nodes."""
import functools
import itertools


def domains(nodes, key):
    """The sets of nodes of which a group with this key needs one; `nodes` has the labels of each."""
    if not key:
        return [frozenset(nodes)]
    values = sorted({labels[key] for labels in nodes.values()})
    return [frozenset(name for name, labels in nodes.items() if labels[key] == value) for value in values]


def fit(parts, free):
    """Whether all parts, as (pods, size, nodes), have room at once. `free` is by node."""
    names = sorted(free)
    wanted = [(size, nodes) for count, size, nodes in parts for _ in range(count)]

    @functools.lru_cache(maxsize=None)
    def place(index, left):
        if index == len(wanted):
            return True
        size, nodes = wanted[index]
        return any(place(index + 1, left[:at] + (left[at] - size,) + left[at + 1:])
                   for at, name in enumerate(names) if name in nodes and left[at] >= size)
    return place(0, tuple(free[name] for name in names))


def can_start(groups, least, key, nodes, free):
    """`groups` are (minimum, size of a pod, key); of them `least` have to start, in one domain of `key`."""
    for around in domains(nodes, key):
        inside = {name: labels for name, labels in nodes.items() if name in around}
        for chosen in itertools.combinations(groups, least):
            for picked in itertools.product(*[domains(inside, own) for _, _, own in chosen]):
                if fit([(count, size, where) for (count, size, _), where in zip(chosen, picked)], free):
                    return True
    return False
