"""The vocabulary every store starts with: people, work, meetings, and what was claimed about them."""

from __future__ import annotations

from engine.knowledge.ontology import FieldRule, Ontology, TypeRule

_DATED = (("occurred_at", FieldRule("date", description="When it took place.")),)
_PROJECT_STATUS = FieldRule(
    values=("active", "paused", "completed", "cancelled"),
    description="Where the project stands; independent of the record's lifecycle.",
)


def default_ontology() -> Ontology:
    """Return the vocabulary of a store without an `ontology.yaml`."""
    return Ontology(
        rules=(
            TypeRule("person", "page", "Person", "Somebody with a name.", ("contact",), "people"),
            TypeRule(
                "company", "page", "Company", "A company, team or other organisation.", ("organisation",), "companies"
            ),
            TypeRule(
                "project",
                "page",
                "Project",
                "Work with a goal: a product, a repository, a rewrite.",
                (),
                "projects",
                (("status", _PROJECT_STATUS),),
            ),
            TypeRule("meeting", "page", "Meeting", "A conversation at a known time.", ("call",), "meetings", _DATED),
            TypeRule("session", "page", "Session", "A work session worth its own page.", (), "sessions", _DATED),
            TypeRule(
                "document", "page", "Document", "A text with an author: a design, a report.", (), "documents", _DATED
            ),
            TypeRule(
                "component", "page", "Component", "A part of a system: a module, a service.", ("service",), "components"
            ),
            TypeRule("topic", "page", "Topic", "A subject notes are gathered under.", ("note",), "topics"),
            TypeRule("fact", "claim", "Fact", "Something found to be so."),
            TypeRule("preference", "claim", "Preference", "How somebody wants things done."),
            TypeRule("decision", "claim", "Decision", "What was chosen, and why."),
            TypeRule("commitment", "claim", "Commitment", "What somebody promised, with an owner and a due date."),
            TypeRule("event", "claim", "Event", "Something that happened."),
            TypeRule("belief", "claim", "Belief", "What somebody holds to be so, not verified."),
            TypeRule("attended", "relationship", "Attended", "", (), None, (), ("person",), ("meeting", "session")),
            TypeRule("works_at", "relationship", "Works at", "", (), None, (), ("person",), ("company",)),
            TypeRule(
                "works_on",
                "relationship",
                "Works on",
                "",
                (),
                None,
                (),
                ("person", "company"),
                ("project", "component"),
            ),
            TypeRule("part_of", "relationship", "Part of"),
            TypeRule("depends_on", "relationship", "Depends on"),
            TypeRule("related_to", "relationship", "Related to"),
        ),
        prefixes=(
            ("people/", "person"),
            ("companies/", "company"),
            ("projects/", "project"),
            ("meetings/", "meeting"),
            ("sessions/", "session"),
            ("documents/", "document"),
            ("components/", "component"),
            ("topics/", "topic"),
        ),
    )
