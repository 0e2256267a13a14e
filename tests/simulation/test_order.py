"""The door before a run's row: one thread at a time, short work first."""

import threading
import time

from simulation.services.order import Door, Turn


def test_who_waits_passes_by_turn_and_then_by_time():
    door, passed, waiting = Door(), [], []
    door.enter(Turn.CLAIM)

    def pass_through(turn, name):
        door.enter(turn)
        passed.append(name)
        door.leave()

    names = [(Turn.CLAIM, "c1"), (Turn.END, "e1"), (Turn.BEGIN, "b1"), (Turn.END, "e2"), (Turn.BEGIN, "b2")]
    for turn, name in names:
        waiting.append(threading.Thread(target=pass_through, args=(turn, name)))
        waiting[-1].start()
        while len(door._waiting) < len(waiting):
            time.sleep(0.001)
    door.leave()
    for one in waiting:
        one.join()
    assert passed == ["b1", "b2", "e1", "e2", "c1"]
    assert door.enter(Turn.BEGIN, wait=False)


def test_who_is_inside_may_pass_again_and_others_only_after_the_last_leaving():
    door, tried = Door(), []
    door.enter(Turn.END)
    door.enter(Turn.CLAIM)
    door.leave()

    def try_it():
        tried.append(door.enter(Turn.BEGIN, wait=False))

    for _ in range(2):
        other = threading.Thread(target=try_it)
        other.start()
        other.join()
        if len(tried) == 1:
            door.leave()
    assert tried == [False, True]


def test_never_two_at_a_time():
    door, inside, most = Door(), [], []

    def often():
        for number in range(200):
            door.enter(Turn(number % 3))
            inside.append(1)
            most.append(len(inside))
            inside.pop()
            door.leave()

    threads = [threading.Thread(target=often) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(most) == 1200
    assert max(most) == 1
