"""Calibrations of ROS, Kalibr, DSEC and OpenCV give the camera that their numbers describe."""

import pytest

from evcrisp import Camera
from evcrisp.core.calibration.calibration_file import parse_calibration
from evcrisp.core.errors import ConfigError

RADTAN = Camera(226.38, 226.15, 173.65, 133.73, (-0.05, 0.1, -0.0007, 1e-05, 0.0), "plumb_bob")

ROS_FILE = """image_width: 346
image_height: 260
camera_name: DAVIS-00000391
camera_matrix:
  rows: 3
  cols: 3
  data: [226.38, 0, 173.65,
         0, 226.15, 133.73, 0, 0, 1]
distortion_model: plumb_bob
distortion_coefficients:
  rows: 1
  cols: 5
  data: [-0.05, 0.1, -0.0007, 1e-05, 0]
rectification_matrix:
  rows: 3
  cols: 3
  data: [1, 0, 0, 0, 1, 0, 0, 0, 1]
projection_matrix:
  rows: 3
  cols: 4
  data: [220, 0, 170, 0, 0, 220, 130, 0, 0, 0, 1, 0]
"""

ROS1_MESSAGE = """header:
  seq: 4
  stamp:
    secs: 1468939993
    nsecs:  67416728
  frame_id: "davis"
height: 260
width: 346
distortion_model: "plumb_bob"
D: [-0.05, 0.1, -0.0007, 1e-05, 0.0]
K: [226.38, 0.0, 173.65, 0.0, 226.15, 133.73, 0.0, 0.0, 1.0]
R: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
P: [220.0, 0.0, 170.0, 0.0, 0.0, 220.0, 130.0, 0.0, 0.0, 0.0, 1.0, 0.0]
binning_x: 0
roi:
  do_rectify: False
---
header:
  seq: 5
"""

ROS2_MESSAGE = """height: 260
width: 346
distortion_model: plumb_bob
d:
- -0.05
- 0.1
- -0.0007
- 1.0e-05
- 0.0
k:
- 226.38
- 0.0
- 173.65
- 0.0
- 226.15
- 133.73
- 0.0
- 0.0
- 1.0
---
"""

KALIBR = """cam0:
  T_cam_imu:
  - [0.99, -0.01, 0.0, 0.005]
  - [0.01, 0.99, -0.02, 0.0]
  - [0.0, 0.02, 0.99, -0.03]
  - [0.0, 0.0, 0.0, 1.0]
  cam_overlaps: [1]
  camera_model: pinhole
  distortion_coeffs: [-0.05, 0.1, -0.0007,
    1e-05]
  distortion_model: radtan
  intrinsics: [226.38, 226.15, 173.65, 133.73]
  resolution: [346, 260]
  rostopic: /davis/left/image_raw
  timeshift_cam_imu: -0.0018
cam1:
  camera_model: pinhole
  distortion_coeffs: [-0.03, 0.01, 0.002, -0.001]
  distortion_model: equidistant
  intrinsics: [230.0, 231.0, 170.0, 130.0]
  resolution: [346, 260]
"""

DSEC = """extrinsics:
  T_10: [[1, 0], [0, 1]]
intrinsics:
  cam0:
    camera_matrix: [226.38, 226.15, 173.65, 133.73]
    camera_model: pinhole
    distortion_coeffs: [-0.05, 0.1, -0.0007, 1.0e-05]
    distortion_model: radtan
    resolution: [346, 260]
  camRect0:
    camera_matrix: [200, 200, 170, 130]
    camera_model: pinhole
    resolution: [346, 260]
"""

OPENCV = """%YAML:1.0
---
calibration_time: "Mon 02 Nov 2026 10:11:12 AM UTC"
image_width: 346
image_height: 260
flags: 0
camera_matrix: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 2.2638e+02, 0., 1.7365e+02, 0., 2.2615e+02,
       1.3373e+02, 0., 0., 1. ]
distortion_coefficients: !!opencv-matrix
   rows: 5
   cols: 1
   dt: d
   data: [ -5.0e-02, 1.0e-01, -7.0e-04, 1.0e-05, 0. ]
avg_reprojection_error: 1.9e-01
"""


def read(tmp_path, text, name=None):
    path = tmp_path / "calibration.yaml"
    path.write_text(text)
    return Camera.from_file(path, name)


@pytest.mark.parametrize(
    "text",
    [ROS_FILE, ROS1_MESSAGE, ROS2_MESSAGE, KALIBR, DSEC, OPENCV],
    ids=["ros file", "ros1 message", "ros2 message", "kalibr", "dsec", "opencv"],
)
def test_every_layout_gives_the_same_camera(tmp_path, text):
    camera = read(tmp_path, text)
    assert camera.resolution == (346, 260)
    for name in ("fx", "fy", "cx", "cy", "lens", "distortion"):
        assert getattr(camera, name) == getattr(RADTAN, name)


def test_camera_of_a_chain_is_chosen_by_name(tmp_path, caplog):
    other = read(tmp_path, KALIBR, "cam1")
    assert (other.fx, other.lens, other.distortion) == (
        230.0,
        "equidistant",
        (-0.03, 0.01, 0.002, -0.001),
    )
    assert not caplog.records
    assert read(tmp_path, KALIBR).fx == 226.38
    assert "has 2 cameras (cam0, cam1); taking cam0." in caplog.text
    with pytest.raises(ConfigError, match="no camera 'cam7'; the file has cam0, cam1"):
        read(tmp_path, KALIBR, "cam7")
    assert read(tmp_path, ROS_FILE, "DAVIS-00000391").fx == 226.38
    with pytest.raises(ConfigError, match="the file has one camera, 'DAVIS-00000391'"):
        read(tmp_path, ROS_FILE, "cam1")
    with pytest.raises(ConfigError, match="numbers of one camera"):
        read(tmp_path, "1 1 1 1", "cam1")


@pytest.mark.parametrize(
    ("text", "change", "message"),
    [
        (KALIBR, ("pinhole", "omni"), "`cam0.camera_model` must be pinhole.*got 'omni'"),
        (KALIBR, ("radtan", "fov"), "`cam0.distortion_model` 'fov' is not supported. Supported: "),
        (KALIBR, ("226.15, 173.65", "173.65"), "`cam0.intrinsics` must be 4 numbers, fx fy cx cy"),
        (KALIBR, ("  intrinsics: [2", "  interests: [2"), "the field `cam0.intrinsics` is missing"),
        (KALIBR, ("226.38", "wide"), "`cam0.intrinsics` must be 4 numbers.*'wide'"),
        (KALIBR, ("226.38", "-226.38"), "`fx` must be a positive number"),
        (KALIBR, ("226.38", ".nan"), "`cam0.intrinsics` must be 4 numbers"),
        (KALIBR, ("[346, 260]", "346"), "`cam0.resolution` must be 2 numbers"),
        (KALIBR, ("[-0.05, 0.1, -0.0007,", "[-0.05,"), "`cam0.distortion_coeffs` must be 4 or 5"),
        (ROS_FILE, ("data: [226.38, 0,", "data: [226.38,"), "`camera_matrix.data` must be a 3 x 3"),
        (ROS_FILE, ("cols: 3", "cols: 4"), "`camera_matrix.data` must have rows x cols = 3 x 4"),
        (ROS_FILE, ("226.38, 0,", "226.38, 2,"), "skew is not supported"),
        (ROS_FILE, ("plumb_bob", "thin_prism"), "`distortion_model` 'thin_prism' is not supported"),
        (ROS_FILE, ("346", "wide"), "`image_width` must be a number of pixels"),
        (ROS_FILE, ("camera_matrix", "matrix"), "no calibration found.*image_width, image_height"),
        (OPENCV, ("-5.0e-02", "none"), "`distortion_coefficients.data` must be 4, 5, 8"),
        ("a: 1\nb\n", ("", ""), "line 2 must be `key: value`"),
        ("a: [1, 2]\n", ("", ""), "no calibration found.*the file has a"),
    ],
)
def test_error_names_file_and_field(tmp_path, text, change, message):
    with pytest.raises(ConfigError, match=f"^{tmp_path}/calibration.yaml: .*{message}"):
        read(tmp_path, text.replace(*change, 1))


def test_rational_polynomial_needs_zero_further_terms(tmp_path):
    def with_terms(terms):
        return ROS1_MESSAGE.replace("plumb_bob", "rational_polynomial").replace(
            "1e-05, 0.0]", f"1e-05, 0.0, {terms}]"
        )

    assert read(tmp_path, with_terms("0, 0, 0")).distortion == RADTAN.distortion
    with pytest.raises(ConfigError, match="has 8 coefficients that are not zero"):
        read(tmp_path, with_terms("0.1, 0, 0"))


def test_message_without_calibration_has_no_distortion():
    message = "height: 0\nwidth: 0\nD: []\nK: [5, 0, 2, 0, 5, 2, 0, 0, 1]\ndistortion_model: ''\n"
    found = parse_calibration(message)
    assert found.distortion == (0.0,) * 5
    assert found.resolution is None


def test_fisheye_of_opencv_is_marked():
    text = OPENCV.replace("flags: 0", "fisheye_model: 1").replace("rows: 5", "rows: 4")
    found = parse_calibration(text.replace("1.0e-05, 0. ]", "1.0e-05 ]"))
    assert (found.lens, found.distortion) == ("equidistant", (-0.05, 0.1, -0.0007, 1e-05))


def test_windows_line_ends_and_byte_order_mark_are_accepted(tmp_path):
    path = tmp_path / "calibration.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + KALIBR.replace("\n", "\r\n").encode())
    assert Camera.from_file(path).fx == 226.38


def test_calibration_of_another_size_warns(tmp_path):
    camera = read(tmp_path, ROS_FILE)
    assert camera.mismatch_warning((346, 260)) is None
    assert "is for a sensor of 346x260 px, and this one has 640x480" in camera.mismatch_warning(
        (640, 480)
    )


def test_camera_has_a_short_repr(tmp_path):
    assert (
        repr(read(tmp_path, ROS_FILE))
        == "Camera(fx=226.38, fy=226.15, cx=173.65, cy=133.73, plumb_bob, 346x260)"
    )


def test_xml_is_refused_with_advice(tmp_path):
    with pytest.raises(ConfigError, match="calibrations in XML are not read. Save it as YAML"):
        read(tmp_path, '<?xml version="1.0"?>\n<opencv_storage></opencv_storage>\n')


def test_huge_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="more than 1 MiB"):
        read(tmp_path, "a: 1\n" + "# " + "x" * (1 << 20))


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "[1, 2]", "{}", "a:\n"])
def test_text_without_calibration_is_refused(tmp_path, text):
    with pytest.raises(ConfigError, match=f"^{tmp_path}/calibration.yaml: "):
        read(tmp_path, text)
