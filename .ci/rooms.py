"""The import directions as one table: a module may import its own room and the rooms beside its arrow."""

from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class Rooms(Contract):
    """A module lives in the room with the longest name that begins its own; what is not allowed is forbidden.

    A module outside every room (the standard library) may be imported from anywhere. A room may be empty, so
    that a direction can be stated before its modules exist.
    """

    rooms = fields.ListField(subfield=fields.StringField())

    def check(
        self,
        graph: ImportGraph,
        verbose: bool,  # noqa: ARG002 - the tool calls it so
    ) -> ContractCheck:
        """Every direct import that its arrow does not allow is in the metadata, with its line."""
        allowed = dict(self.arrow(line) for line in cast("list[str]", self.rooms))
        unknown = {room for rooms in allowed.values() for room in rooms} - set(allowed)
        if unknown:
            raise ValueError(f"rooms without an arrow of their own: {', '.join(sorted(unknown))}")
        broken = [
            f"{details['importer']}:{details['line_number']} imports {imported} ({room_to}), "
            f"but {room_from} may import only {', '.join(sorted(allowed[room_from])) or 'itself'}"
            for importer in sorted(graph.modules)
            if (room_from := self.room(importer, allowed))
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if (room_to := self.room(imported, allowed)) and room_to not in allowed[room_from]
            for details in graph.get_import_details(importer=importer, imported=imported)
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Each forbidden import is printed on a line of its own."""
        for line in check.metadata["broken"]:
            output.print_error(line)

    @staticmethod
    def arrow(line: str) -> tuple[str, set[str]]:
        """The room and all it may import, itself included."""
        room, arrow, others = line.partition("->")
        if not arrow:
            raise ValueError(f"no arrow in {line!r}: write 'room -> room, room', or 'room ->' for none")
        return room.strip(), {room.strip(), *filter(None, map(str.strip, others.split(",")))}

    @staticmethod
    def room(module: str, allowed: dict[str, set[str]]) -> str:
        """The longest room's name that begins the module's, or nothing."""
        return max((room for room in allowed if f"{module}.".startswith(f"{room}.")), key=len, default="")
