from . import (
    contrast as contrast,
)
from . import (
    core as core,
)
from . import (
    estimators as estimators,
)
from . import (
    experiments as experiments,
)
from . import (
    filters as filters,
)
from . import (
    io as io,
)
from . import (
    metrics as metrics,
)
from . import (
    motion as motion,
)
from . import (
    objectives as objectives,
)
from . import (
    optimize as optimize,
)
from . import (
    pipeline as pipeline,
)
from . import (
    plots as plots,
)
from . import (
    plugins as plugins,
)
from . import (
    search as search,
)
from . import (
    simulation as simulation,
)
from . import (
    streaming as streaming,
)
from . import (
    training as training,
)
from . import (
    video as video,
)
from . import (
    viewer as viewer,
)
from .core.camera import Camera as Camera
from .core.doubt import Doubt as Doubt
from .core.errors import (
    ConfigError as ConfigError,
)
from .core.errors import (
    EventDataError as EventDataError,
)
from .core.errors import (
    EvError as EvError,
)
from .core.errors import (
    FormatError as FormatError,
)
from .core.errors import (
    MissingExtraError as MissingExtraError,
)
from .core.errors import (
    OutputError as OutputError,
)
from .core.errors import (
    UnknownNameError as UnknownNameError,
)
from .core.events import Events as Events
from .core.flow import Flow as Flow
from .core.live_area import LiveArea as LiveArea
from .core.status import Status as Status
from .core.windows import Window as Window
from .core.windows import by_count as by_count
from .core.windows import by_time as by_time
from .estimators.estimate import estimate as estimate
from .estimators.joint.pareto import pareto_front as pareto_front
from .estimators.result import Estimate as Estimate
from .experiments.bench.run import bench as bench
from .filters.denoising import denoise as denoise
from .io.flow.files import read_flow as read_flow
from .io.flow.files import write_flow as write_flow
from .io.reading import open as open
from .io.reading import read as read
from .io.recording import Recording as Recording
from .io.writing import write as write
from .pipeline.camera_motion.motion_evaluation import (
    MotionEvaluation as MotionEvaluation,
)
from .pipeline.camera_motion.motion_evaluation import (
    evaluate_motion as evaluate_motion,
)
from .pipeline.evaluation import evaluate as evaluate
from .pipeline.filter_recording import filter_recording as filter_recording
from .pipeline.flow_files import FlowFiles as FlowFiles
from .pipeline.flow_files import write_flow_files as write_flow_files
from .pipeline.many.batch import BatchResult as BatchResult
from .pipeline.many.convert_many import convert_many as convert_many
from .pipeline.many.evaluate_many import evaluate_many as evaluate_many
from .pipeline.many.filter_many import filter_many as filter_many
from .pipeline.many.flow_many import flow_many as flow_many
from .pipeline.many.run_many import run_many as run_many
from .pipeline.object_tracking import ObjectTracker as ObjectTracker
from .pipeline.run import RunResult as RunResult
from .pipeline.run import run as run
from .pipeline.tracking import track as track
from .pipeline.windowing import Windowing as Windowing
from .plugins import register as register
from .simulation.config import SimulationConfig as SimulationConfig
from .simulation.generate import simulate as simulate
from .simulation.generate import simulate_chunks as simulate_chunks
from .simulation.result import Simulation as Simulation
from .streaming.live import live as live
from .streaming.summary import LiveSummary as LiveSummary
from .video.rendering import render as render
from .viewer.server import view as view

__version__: str
