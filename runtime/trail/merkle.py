"""The Merkle tree of RFC 6962 over the journal's links: roots, and short proofs about them.

A tree's frontier is the roots of its full subtrees, largest first: enough to grow it, and to give its root.
"""

import hashlib
from collections.abc import Sequence

HASH = 32


def leaf_hash(leaf: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\0" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees."""
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    """A tree that only grows."""

    def __init__(self, size: int = 0, frontier: Sequence[bytes] = ()) -> None:
        if len(frontier) != size.bit_count():
            raise ValueError(
                f"a tree of {size} leaves has {size.bit_count()} full subtrees, not {len(frontier)}"
            )
        self.size = size
        self.frontier = list(frontier)

    def add(self, leaf: bytes) -> None:
        """The leaf is the last one."""
        node, size = leaf_hash(leaf), self.size
        while size & 1:
            node = node_hash(self.frontier.pop(), node)
            size >>= 1
        self.frontier.append(node)
        self.size += 1

    def root(self) -> bytes:
        """The root of all leaves so far."""
        if not self.frontier:
            return hashlib.sha256(b"").digest()
        root = self.frontier[-1]
        for subtree in reversed(self.frontier[:-1]):
            root = node_hash(subtree, root)
        return root


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root of the leaves."""
    tree = Tree()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root()


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The path from the leaf to the root of the leaves."""
    if len(leaves) <= 1:
        return []
    split = _split(len(leaves))
    if index < split:
        return [*inclusion_proof(leaves[:split], index), root_of(leaves[split:])]
    return [*inclusion_proof(leaves[split:], index - split), root_of(leaves[:split])]


def includes(root: bytes, size: int, leaf: bytes, index: int, proof: Sequence[bytes]) -> bool:
    """Whether the tree of this size and root has the leaf at the index."""
    if not 0 <= index < size:
        return False
    node, place, last = leaf_hash(leaf), index, size - 1
    for step in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            node = node_hash(step, node)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            node = node_hash(node, step)
        place, last = place >> 1, last >> 1
    return last == 0 and node == root


def consistency_proof(leaves: Sequence[bytes], earlier: int) -> list[bytes]:
    """What shows that the tree of the first leaves is the beginning of the tree of all."""
    return _subproof(leaves, earlier, whole=True) if 0 < earlier < len(leaves) else []


def extends(earlier_root: bytes, earlier: int, later_root: bytes, later: int, proof: Sequence[bytes]) -> bool:
    """Whether the later tree begins with the earlier one."""
    if earlier == later:
        return not proof and earlier_root == later_root
    if not 0 < earlier < later:
        return earlier == 0 and not proof
    steps = [earlier_root, *proof] if earlier.bit_count() == 1 else list(proof)
    if not steps:
        return False
    place, last = earlier - 1, later - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node_hash(step, old), node_hash(step, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node_hash(new, step)
        place, last = place >> 1, last >> 1
    return last == 0 and old == earlier_root and new == later_root


def _subproof(leaves: Sequence[bytes], earlier: int, *, whole: bool) -> list[bytes]:
    """The proof about the first leaves of a subtree; a whole one's root is known to who checks."""
    if earlier == len(leaves):
        return [] if whole else [root_of(leaves)]
    split = _split(len(leaves))
    if earlier <= split:
        return [*_subproof(leaves[:split], earlier, whole=whole), root_of(leaves[split:])]
    return [*_subproof(leaves[split:], earlier - split, whole=False), root_of(leaves[:split])]


def _split(size: int) -> int:
    """How many leaves the left subtree has: the largest power of two below the size."""
    return 1 << ((size - 1).bit_length() - 1)
