"""The Merkle tree against published roots and against every small case there is."""

import hashlib
import itertools

import pytest

from falsework.runtime.trail.merkle import (
    Tree,
    consistency_proof,
    extends,
    includes,
    inclusion_proof,
    node_hash,
    root_of,
)

# The inputs and the roots that Certificate Transparency's own tests publish.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
SIZES = range(1, 20)
MANY = [bytes([number]) for number in range(20)]


@pytest.mark.parametrize("size, root", [*enumerate(ROOTS)])
def test_the_published_roots(size: int, root: str) -> None:
    assert root_of(LEAVES[:size]).hex() == root


def by_definition(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1, word for word."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return hashlib.sha256(b"\1" + by_definition(leaves[:k]) + by_definition(leaves[k:])).digest()


@pytest.mark.parametrize("size", SIZES)
def test_a_tree_grown_leaf_by_leaf_is_the_one_defined(size: int) -> None:
    assert root_of(MANY[:size]) == by_definition(MANY[:size])


def test_a_tree_goes_on_from_its_frontier() -> None:
    for size, further in itertools.product(range(12), range(8)):
        begun = Tree()
        for leaf in MANY[:size]:
            begun.add(leaf)
        again = Tree(size, begun.frontier)
        for leaf in MANY[size : size + further]:
            again.add(leaf)
        assert again.root() == root_of(MANY[: size + further])
    with pytest.raises(ValueError, match=r"^a tree of 5 leaves has 2 full subtrees, not 1$"):
        Tree(5, [bytes(32)])


def test_each_leaf_is_included_where_it_is_and_nowhere_else() -> None:
    for size in SIZES:
        root = root_of(MANY[:size])
        for index in range(size):
            proof = inclusion_proof(MANY[:size], index)
            found = [
                (place, leaf)
                for place in range(-1, size + 1)
                for leaf in range(size)
                if includes(root, size, MANY[leaf], place, proof)
            ]
            assert found == [(index, index)]
            assert not includes(root, size, MANY[index], index, [*proof, bytes(32)])
            assert not proof or not includes(root, size, MANY[index], index, proof[:-1])


def test_a_tree_extends_its_beginnings_and_no_other() -> None:
    for size in SIZES:
        root = root_of(MANY[:size])
        other = [b"other", *MANY[1:]]
        for earlier in range(1, size + 1):
            proof = consistency_proof(MANY[:size], earlier)
            assert extends(root_of(MANY[:earlier]), earlier, root, size, proof)
            assert not extends(root_of(other[:earlier]), earlier, root, size, proof)
            assert not extends(root_of(MANY[:earlier]), earlier, root_of(other[:size]), size, proof)
            assert not extends(root_of(MANY[:earlier]), earlier, root, size, [*proof, bytes(32)])
            if proof:
                assert not extends(root_of(MANY[:earlier]), earlier, root, size, proof[:-1])


def test_a_proof_of_the_wrong_size_is_refused() -> None:
    root = root_of(MANY[:8])
    assert not extends(root_of(MANY[:4]), 4, root, 3, [])
    assert not extends(root_of(MANY[:3]), 3, root, 8, [])
    assert extends(root_of([]), 0, root, 8, [])
    assert node_hash(b"a" * 32, b"b" * 32) != node_hash(b"b" * 32, b"a" * 32)
