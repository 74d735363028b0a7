"""The probes that look at single things: calls, arithmetic, masks, copies, questions to a copy of the model."""

from __future__ import annotations

from paramedic.capture.active.probe import Active
from paramedic.capture.probes.checkpoints.forgotten import Forgotten
from paramedic.capture.probes.checkpoints.overwritten_weights import OverwrittenWeights
from paramedic.capture.probes.checkpoints.resumes import Resumes
from paramedic.capture.probes.data.fed_rows import FedRows
from paramedic.capture.probes.data.inputs import Inputs
from paramedic.capture.probes.data.mirrors import Mirrors
from paramedic.capture.probes.evaluation.answers import Answers
from paramedic.capture.probes.evaluation.metrics import Metrics
from paramedic.capture.probes.loss.advantages import Advantages
from paramedic.capture.probes.loss.class_targets import ClassTargets
from paramedic.capture.probes.loss.corners import Corners
from paramedic.capture.probes.loss.ctc import Ctc
from paramedic.capture.probes.loss.draws import Draws
from paramedic.capture.probes.loss.forecasts import Forecasts
from paramedic.capture.probes.loss.leftovers import Leftovers
from paramedic.capture.probes.loss.mixtures import Mixtures
from paramedic.capture.probes.loss.numbers import Numbers
from paramedic.capture.probes.loss.objectives import Objectives
from paramedic.capture.probes.loss.overlaps import Overlaps
from paramedic.capture.probes.loss.rankings import Rankings
from paramedic.capture.probes.loss.reductions import Reductions
from paramedic.capture.probes.loss.shifts import Shifts
from paramedic.capture.probes.loss.signed_labels import SignedLabels
from paramedic.capture.probes.loss.tables import Tables
from paramedic.capture.probes.loss.target_among_inputs import TargetAmongInputs
from paramedic.capture.probes.loss.turned import Turned
from paramedic.capture.probes.loss.twins import Twins
from paramedic.capture.probes.model.attention_axes import AttentionAxes
from paramedic.capture.probes.model.averages import Averages
from paramedic.capture.probes.model.chains import Chains
from paramedic.capture.probes.model.contracts import Contracts
from paramedic.capture.probes.model.declared_shapes import DeclaredShapes
from paramedic.capture.probes.model.followers import Followers
from paramedic.capture.probes.model.inplace import InPlace
from paramedic.capture.probes.model.masks import Masks
from paramedic.capture.probes.model.overwrites import Overwrites
from paramedic.capture.probes.model.recurrence import Recurrence
from paramedic.capture.probes.model.side_outputs import SideOutputs
from paramedic.capture.probes.model.teachers import Teachers
from paramedic.capture.probes.model.ties import Ties
from paramedic.capture.probes.model.views import Views
from paramedic.capture.sources.backward import BackwardPasses
from paramedic.capture.sources.checkpoints import Checkpoints
from paramedic.capture.sources.loop import Loop
from paramedic.capture.sources.losses import Losses
from paramedic.capture.sources.module_calls import ModuleCalls
from paramedic.capture.sources.ops import OpMode
from paramedic.capture.watcher import Watcher


class Details:
    """Builds them and tells each what it wants to hear."""

    def __init__(
        self,
        watcher: Watcher,
        ops: OpMode,
        calls: ModuleCalls,
        losses: Losses,
        passes: BackwardPasses,
        loop: Loop,
        checkpoints: Checkpoints,
    ) -> None:
        followers = Followers(watcher, ops, loop.owners.__contains__)
        averages = Averages(watcher, ops, followers, loop.owners.__contains__)
        views, masks, shifts, chains = Views(watcher, ops), Masks(watcher, ops), Shifts(watcher), Chains(watcher)
        active, recurrence, resumes = Active(watcher), Recurrence(watcher), Resumes(watcher)
        leftovers, advantages, draws = Leftovers(watcher), Advantages(watcher, ops), Draws(watcher, ops)
        loaded, forgotten = OverwrittenWeights(watcher, ops, loop.owners.__contains__), Forgotten(watcher, loop)
        mixtures = Mixtures(watcher, loop)
        answers, objectives = Answers(watcher, ops), Objectives(watcher, ops)
        tables = Tables(watcher, ops, answers.knows)
        self.inputs, self.in_place = Inputs(watcher, lambda: calls.loader()), InPlace(watcher, ops)
        calls.on_root += [("followers", followers.called), ("views", views.called), ("masks", masks.model)]
        calls.on_root += [("active", active.called), ("answers", answers.called), ("averages", averages.called)]
        calls.on_fed.append(("inputs", self.inputs.fed))
        calls.on_call += [("overwrites", Overwrites(watcher).called), ("masks", masks.attention)]
        calls.on_call += [("shifts", shifts.called), ("chains", chains.called), ("recurrence", recurrence.called)]
        calls.on_call += [
            ("contracts", Contracts(watcher).called),
            ("side_outputs", SideOutputs(watcher, calls.made_by).called),
        ]
        calls.on_call.append(("draws", draws.called))
        losses.on_labels.append(("shifts", shifts.labels))
        losses.embedded = shifts.last
        losses.on_call += [("views", views.compared), ("class_targets", ClassTargets(watcher).loss)]
        given, mirrors = TargetAmongInputs(watcher), Mirrors(watcher)
        calls.on_root += [("target_among_inputs", given.called), ("mirrors", mirrors.called)]
        fed = FedRows(watcher, lambda: max((account.number for account in loop.accounts.values()), default=-1))
        calls.on_root.append(("fed_rows", fed.called))
        twins, forecasts = Twins(watcher, ops), Forecasts(watcher)
        calls.on_root.append(("forecasts", forecasts.called))
        losses.on_call += [("forecasts", forecasts.loss), ("turned", Turned(watcher).loss)]
        calls.on_root += [("teachers", Teachers(watcher).called), ("twins", twins.called)]
        losses.on_call += [("tables", tables.loss), ("target_among_inputs", given.loss), ("mirrors", mirrors.loss)]
        passes.on_pass += [("recurrence", recurrence.passed), ("leftovers", leftovers.passed)]
        passes.on_pass += [("advantages", advantages.passed), ("chains", chains.passed)]
        passes.on_pass += [("draws", draws.passed), ("mixtures", mixtures.passed)]
        checkpoints.on_optimizer += [("resumes", resumes.restored), ("forgotten", forgotten.restored)]
        checkpoints.on_model += [
            ("overwritten_weights", loaded.given),
            ("forgotten", forgotten.given),
            ("averages", averages.given),
        ]
        losses.on_value = objectives.loss
        self._probes = (
            followers, averages, views, masks, chains, active, resumes, answers, self.in_place,
            Metrics(watcher, ops), objectives, Ctc(watcher), Ties(watcher, loop.owners.__contains__), tables,
            leftovers, advantages, draws, Numbers(watcher, ops), SignedLabels(watcher, ops),
            Overlaps(watcher, ops), Corners(watcher, ops), Rankings(watcher, ops), AttentionAxes(watcher, ops),
            loaded, forgotten, mixtures, DeclaredShapes(watcher, calls), twins, forecasts, Reductions(watcher, ops),
        )  # fmt: skip

    def install(self) -> None:
        for probe in self._probes:
            probe.install()

    def finish(self, error: BaseException | None) -> None:
        self.inputs.finish()
        if error is not None:
            self.in_place.tell(error)
