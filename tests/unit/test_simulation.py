

def test_gravity_turns_alike_for_a_roll_as_similarity_and_as_rotation():
    settings = {"resolution": (32, 24), "duration_us": 500_000, "window_us": 50_000}
    similar = simulate(motion="similarity", theta=(0.0, 0.0, 1.5, 0.0), **settings).imu
    turned = simulate(motion="rotation", theta=(0.0, 0.0, -1.5), **settings).imu
    np.testing.assert_allclose(similar.gyro_rad_s, turned.gyro_rad_s, atol=1e-12)
    np.testing.assert_allclose(similar.accel_m_s2, turned.accel_m_s2, atol=1e-9)
