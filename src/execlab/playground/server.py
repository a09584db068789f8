"""The server: a documented JSON API, and the page."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as AnyHTTPException

from execlab import __version__
from execlab.data.sampling import Source
from execlab.data.scramble import permutation, scramble
from execlab.data.vocabulary import END_MARK, VOCABULARY, check_characters, vocabulary_with
from execlab.errors import ExeclabError
from execlab.playground import folders, openai, schemas
from execlab.playground.follow import follow
from execlab.playground.limits import LOOPBACK, STREAMS, Guard, TooMuchError, Work
from execlab.playground.store import ModelStore
from execlab.programs.interpreter import trace
from execlab.programs.syntax import ProgramError
from execlab.tasks import Difficulty
from execlab.tasks import Sample as Text

if TYPE_CHECKING:
    from torch import Tensor

    from execlab.tasks import Task
    from execlab.training.load import Executor

WEB = Path(__file__).parent / "web"
ROUNDED = 4  # digits of a state that are sent

REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": schemas.Problem, "description": "A host name that is not this server's, or a body that is no JSON."},
    408: {"model": schemas.Problem, "description": "The body did not arrive in time."},
    413: {"model": schemas.Problem, "description": "The body is too large."},
    422: {"model": schemas.Problem, "description": "Something is wrong with the request; says where, if in the input."},
    429: {"model": schemas.Problem, "description": "Too much at once; try again in a moment."},
}
MISSING: dict[int | str, dict[str, Any]] = {404: {"model": schemas.Problem, "description": "There is no such thing."}}


def create_app(root: Path | None = None, hosts: set[str] | None = LOOPBACK) -> FastAPI:
    """The application; `root` is the folder of runs, `hosts` the names that it answers to (None: any)."""
    app = FastAPI(
        title="execlab playground",
        version=__version__,
        description="Ask networks to execute programs, and watch training runs. All of it stays on this machine.",
        docs_url=None,  # they would load from another host
        redoc_url=None,
        responses=REFUSED,
    )
    app.add_middleware(Guard, hosts=hosts)
    store, work = ModelStore(root), Work()
    store.recount()
    _handle_errors(app)

    def runs_below() -> dict[str, Path]:
        return folders.runs_below(root) if root else {}

    def grids_below() -> dict[str, Path]:
        return folders.grids_below(root) if root else {}

    @app.get("/api/health", operation_id="health")
    async def health() -> schemas.Health:
        """Whether the server is alive; answers whatever else is being done. The models are those at the last count."""
        store.recount()
        return schemas.Health(status="ok", version=__version__, models=store.count, runs=root is not None)

    @app.get("/api/models", operation_id="models")
    async def models() -> list[schemas.Model]:
        """The models that can be asked."""
        return await work.do(store.listed)

    @app.get("/api/alphabet", operation_id="alphabet")
    async def alphabet(seed: Annotated[int, Query(ge=0, le=schemas.MAX_SEED)] = 1) -> schemas.Alphabet:
        """The characters that the models know, and a permutation of them (the paper's Fig. 2)."""
        return schemas.Alphabet(vocabulary=VOCABULARY, scrambled=VOCABULARY.translate(permutation(seed)), seed=seed)

    @app.get("/api/sample", operation_id="sample")
    async def sample(
        task: Annotated[str, Query(max_length=schemas.MAX_NAME, description="A task of /api/models.")] = "program",
        length: Annotated[int, Query(ge=1, le=schemas.MAX_LENGTH)] = 4,
        nesting: Annotated[int, Query(ge=1, le=schemas.MAX_NESTING)] = 1,
        seed: Annotated[int | None, Query(ge=0, le=schemas.MAX_SEED, description="Default: a random one.")] = None,
    ) -> schemas.Sample:
        """A sample of the test split; memorization as the plain digits."""
        return await work.do(lambda: _sample(task, store.task(task), length, nesting, seed))

    @app.post("/api/execute", operation_id="execute")
    async def execute(asked: schemas.Execute) -> schemas.Executed:
        """The true output, and the variables line by line."""
        return await work.do(lambda: _execute(store.task(asked.task), asked.input))

    @app.post("/api/check", operation_id="check")
    async def check(asked: schemas.Execute) -> schemas.Checked:
        """The same while somebody is typing: an unfinished text is no error."""
        try:
            executed = await work.do(lambda: _execute(store.task(asked.task), asked.input))
            return schemas.Checked(executed=executed, problem=None)
        except ExeclabError as error:
            return schemas.Checked(executed=None, problem=_problem(error))

    @app.post("/api/predict", operation_id="predict", responses=MISSING, response_model=schemas.Predicted)
    async def predict(asked: schemas.Predict) -> Response:
        """What a model prints, character by character."""

        def run() -> Response:
            try:
                executor = store.get(asked.model)
            except KeyError:
                raise HTTPException(404, "there is no such model; /api/models lists them") from None
            sample = executor.sample(asked.input)
            if asked.states and len(sample.input) + len(sample.target) > schemas.MAX_STATES:
                raise HTTPException(
                    413, f"states are given for at most {schemas.MAX_STATES} characters, output included"
                )
            if asked.teacher_forced and len(sample.target) > schemas.MAX_OUTPUT:
                raise HTTPException(413, f"outputs of at most {schemas.MAX_OUTPUT} characters can be teacher-forced")
            # As text here, in the thread: states are long, and the server must go on answering.
            return Response(_predict(executor, asked).model_dump_json(), media_type="application/json")

        return await work.do(run)

    @app.get("/api/runs", operation_id="runs")
    async def runs() -> list[schemas.Run]:
        """The run folders, the broken ones too."""
        return await work.do(lambda: [folders.describe(name, folder) for name, folder in runs_below().items()])

    @app.get("/api/grids", operation_id="grids")
    async def grids() -> list[schemas.Grid]:
        """The results of reproduced experiments."""
        return await work.do(lambda: [folders.read_grid(name, folder) for name, folder in grids_below().items()])

    @app.get(
        "/api/runs/{id:path}/metrics",
        operation_id="metrics",
        response_class=StreamingResponse,
        responses={
            **MISSING,
            200: {
                "description": "Server-sent events: `metrics` for every evaluation, as in metrics.jsonl (of "
                f"`distribution` at most {schemas.MAX_DIFFICULTIES} difficulties); `reset` when a run was resumed from "
                "an earlier step; `end` when the run is finished.",
                "content": {"text/event-stream": {"schema": schemas.EVENT}},
            },
        },
    )
    async def metrics(id: str, request: Request) -> StreamingResponse:
        """The evaluations of a run, live."""
        folder = (await work.do(runs_below)).get(id)
        if folder is None:
            raise HTTPException(404, "there is no such run; /api/runs lists them")
        if work.streams >= STREAMS:
            raise TooMuchError
        return StreamingResponse(follow(folder, work, request), media_type="text/event-stream", headers=NO_STORE)

    app.include_router(openai.router(store, work))
    app.mount("/", StaticFiles(directory=WEB, html=True), name="page")
    return app


NO_STORE = {"cache-control": "no-store"}


def _handle_errors(app: FastAPI) -> None:
    def problem(status: int, detail: schemas.Problem | str) -> JSONResponse:
        content = schemas.Problem(detail=detail) if isinstance(detail, str) else detail
        later = {"retry-after": "1"} if status == 429 else None
        return JSONResponse(content.model_dump(), status_code=status, headers=later)

    @app.exception_handler(ExeclabError)
    async def refused(_: Request, error: ExeclabError) -> JSONResponse:
        return problem(422, _problem(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        status = 413 if first["type"] == "string_too_long" else 422
        return problem(status, f"{where}: {first['msg']}" if where else str(first["msg"]))

    @app.exception_handler(TooMuchError)
    async def busy(_request: Request, _error: Exception) -> JSONResponse:
        return problem(429, "the server has enough to do; try again in a moment")

    @app.exception_handler(AnyHTTPException)
    async def other(_: Request, error: AnyHTTPException) -> JSONResponse:
        ours = isinstance(error, HTTPException)  # raised above; Starlette itself raises the other kind
        missing = error.status_code == 404 and not ours
        response = problem(error.status_code, "there is no such page" if missing else str(error.detail))
        response.headers.update(error.headers or {})
        return response


def _problem(error: ExeclabError) -> schemas.Problem:
    if isinstance(error, ProgramError):
        return schemas.Problem(detail=error.message, line=error.line, column=error.column)
    return schemas.Problem(detail=str(error))


def _sample(name: str, task: Task, length: int, nesting: int, seed: int | None) -> schemas.Sample:
    seed = secrets.randbelow(2**32) if seed is None else seed
    source = Source(task, Difficulty(length, min(nesting, task.hardest.nesting)), "test", seed, purpose="playground")
    row = source.row(0)
    return schemas.Sample(
        task=name,
        length=row.difficulty.length,
        nesting=row.difficulty.nesting,
        seed=seed,
        input=row.sample.input,
        target=row.sample.target,
    )


def _execute(task: Task, text: str) -> schemas.Executed:
    output = task.solve(text)
    check_characters(text, vocabulary_with(task.symbols))
    steps: list[schemas.Step] = []
    size = 0
    for step in trace(text) if task.is_python else ():
        variables = {name: _short(value) for name, value in step.variables.items()}
        size += sum(len(name) + len(value) for name, value in variables.items())
        if len(steps) == schemas.MAX_STEPS or size > schemas.MAX_TRACE:
            return schemas.Executed(output=output, trace=steps, truncated=True)
        steps.append(schemas.Step(line=step.line, variables=variables))
    return schemas.Executed(output=output, trace=steps, truncated=False)


def _short(value: int) -> str:
    """A variable's value; of a very long one, how long it is."""
    bits = value.bit_length()
    return str(value) if bits < 200 else f"(about {bits * 0.30103:,.0f} digits)"


def _predict(executor: Executor, asked: schemas.Predict) -> schemas.Predicted:
    seen: list[dict[str, Tensor]] | None = [] if asked.states else None
    vocabulary = executor.reader.vocabulary
    predicted = executor.predict(
        asked.input, teacher_forced=asked.teacher_forced, others=len(vocabulary) - 1, activations=seen
    )
    seed = executor.config.scramble
    read = predicted.input if seed is None else scramble(seed, Text(predicted.input, ""), vocabulary).input
    printed = "".join(character.character for character in predicted.characters)
    given = (predicted.target + END_MARK if asked.teacher_forced else printed)[:-1]
    given = given if seed is None else scramble(seed, Text(given, ""), vocabulary).input
    return schemas.Predicted(
        prediction=predicted.prediction,
        target=predicted.target,
        correct=predicted.correct,
        read=read,
        outside=predicted.outside,
        characters=[
            schemas.Character(
                character=character.character,
                probability=character.probability,
                alternatives=[schemas.Alternative(character=c, probability=p) for c, p in character.alternatives],
            )
            for character in predicted.characters
        ],
        states=_states(read + END_MARK + given, seen) if seen is not None else None,
    )


def _states(characters: str, seen: list[dict[str, Tensor]]) -> schemas.States:
    """What the model showed after each character, by name: layers of columns of units."""
    import torch

    activations = {
        name: torch.cat([after[name] for after in seen]).transpose(0, 1).double().round(decimals=ROUNDED).tolist()
        for name in seen[0]
    }
    return schemas.States.model_construct(characters=characters, activations=activations)
