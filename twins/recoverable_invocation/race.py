"""The nine ways to lose the race that the text names, each rejected for its own reason."""

from falsework.language import twin
from falsework.models.recoverable_invocation import race_driven, race_limits, race_sentences
from falsework.models.recoverable_invocation.race import FencelessStore, OneCall, Race, ReportOnly, Unattended
from falsework.models.recoverable_invocation.vocabulary import Who
from falsework.twins.recoverable_invocation import race_rules, race_steps

__all__ = ["race_driven", "race_limits", "race_rules", "race_sentences", "race_steps"]


@twin(
    breaks={
        Race.no_two_closings_stand: 23,
        Race.a_closing_lands_under_its_writers_lease: 13,
        Race.two_runs_never_close_one_act: 23,
        Race.an_intent_in_flight_has_its_section: 5,
        Race.a_run_waits_for_a_dead_holder: None,
    },
    within=Unattended,
)
class BuggyDeath(Race):
    """-buggy-death: the host takes a lost connection for a death and frees the section."""

    def bury(self, who: Who) -> None:
        if self.holder is who:
            self.holder = None
            self.left = 0


@twin(breaks={Race.no_two_closings_stand: 26, Race.two_runs_never_close_one_act: 26}, within=Unattended)
class BuggyReread(Race):
    """-buggy-reread: a run that has waited for the section does not read the journal again."""

    RE_READ = False


@twin(
    breaks={Race.nothing_abandoned_ever_happens: 19, Race.the_sweep_abandons_no_act_without_a_fence: 16},
    within=FencelessStore,
)
class BuggyFence(Race):
    """-buggy-fence: the sweep abandons an act that a store without a fence may still apply."""

    def may_abandon(self) -> bool:
        return True


@twin(
    breaks={
        Race.no_two_closings_stand: 22,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.an_intent_in_flight_has_its_section: 7,
    },
    within=Unattended,
)
class BuggyJournal(Race):
    """-buggy-journal: nothing stops a journal write that its writer was too late to send, or slow to land."""

    JOURNAL_FENCE = False


@twin(
    breaks={
        Race.nothing_happens_before_the_journal_shows_its_intent: 8,
        Race.no_two_closings_stand: 22,
        Race.two_runs_never_close_one_act: 23,
        Race.another_is_let_in_past_no_open_intent: 9,
        Race.a_retry_lands: None,
    },
    within=Unattended,
)
class BuggyVisible(Race):
    """-buggy-visible: a record can be read within its write bound, and not once its write has returned."""

    VISIBLE_ON_RETURN = False


@twin(
    breaks={
        Race.no_two_closings_stand: 22,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.an_intent_in_flight_has_its_section: 7,
    },
    within=Unattended,
)
class BuggySkew(Race):
    """-buggy-skew: the journal's fence is minted bare, and its clock is behind."""

    def journal_slack(self, margin: bool) -> int:
        return super().journal_slack(False)


@twin(
    breaks={
        Race.no_two_closings_stand: 26,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.an_intent_in_flight_has_its_section: 7,
    },
    within=Unattended,
)
class BuggyPerwrite(Race):
    """-buggy-perwrite: the fence knows the lease and not the write, which lands after it was read back."""

    WRITE_FENCE = False


@twin(
    breaks={
        Race.no_two_closings_stand: 22,
        Race.a_resolution_names_what_it_found: 22,
        Race.an_operator_corrects_an_escalation: None,
    },
    within=OneCall,
)
class BuggySupersede(Race):
    """-buggy-supersede: a resolution says who resolved, and not what it resolves."""

    SUPERSEDES_NAMED = False


@twin(
    breaks={Race.nothing_abandoned_ever_happens: 17, Race.an_operator_abandons_only_what_is_aged: 14},
    within=ReportOnly,
)
class BuggyOpclock(Race):
    """-buggy-opclock: the operator's reading is one tick further ahead than the allowance covers."""

    def is_aged(self) -> bool:
        return self.is_past(self.examine_edge() - 1, Who.OPERATOR)
