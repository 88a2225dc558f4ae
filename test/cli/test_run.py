#!/usr/bin/env python3
"""`platoon run` against the API of `platoon up`: health, metrics, configuration, signals, ports.

    test_run.py PLATOON [TEST...]

The last line is `N passed, M failed`.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request

from cluster_api import Api, until
from fake_api import FakeApi
from refusing_proxy import RefusingProxy

PLATOON = os.path.abspath(sys.argv[1])
PATIENCE = 120
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Process:
    """A command with its output in a file; ended at the end of the block."""

    def __init__(self, folder, *args):
        self.path = os.path.join(folder, f"{args[0]}-{time.monotonic_ns()}.log")
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen([PLATOON, *args], stdout=log, stderr=subprocess.STDOUT, cwd=folder)

    def log(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for(self, pattern):
        """The first group of the pattern, once it is in the log."""
        end = time.monotonic() + PATIENCE
        while True:
            match = re.search(pattern, self.log())
            if match:
                return match.group(match.lastindex or 0)
            assert self.process.poll() is None, f"it ended: {self.log()}"
            assert time.monotonic() < end, f"no {pattern} in {self.log()[-3000:]}"
            time.sleep(0.05)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def write(folder, name, text):
    with open(os.path.join(folder, name + ".new"), "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(os.path.join(folder, name + ".new"), os.path.join(folder, name))


def ready(url):
    end = time.monotonic() + PATIENCE
    while get(url + "/readyz")[0] != 200:
        assert time.monotonic() < end, get(url + "/readyz")
        time.sleep(0.05)


@test
def it_tells_how_it_is(folder):
    with Process(folder, "run", "--kubeconfig", "d/kubeconfig", "--listen", "127.0.0.1:0") as run:
        url = run.wait_for(r"health and metrics on (\S+)")
        assert get(url + "/healthz") == (200, "ok\n")
        ready(url)
        code, text = get(url + "/metrics")
        assert code == 200 and "platoon_leader 1" in text and "platoon_synced 1" in text, text
        for line in text.splitlines():
            assert re.match(r"^(# (HELP|TYPE) .*|[a-z_]+(\{.*\})? [-0-9.e+]+)$", line), line
        names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
        assert len(names) == len(set(names)), [name for name in names if names.count(name) > 1]
        assert get(url + "/nothing")[0] == 404
        assert run.stop() == 0, run.log()


@test
def the_usual_port_may_be_taken(folder):
    with Process(folder, "run", "--kubeconfig", "d/kubeconfig") as first, \
            Process(folder, "run", "--kubeconfig", "d/kubeconfig") as second:
        urls = {first.wait_for(r"health and metrics on (\S+)"), second.wait_for(r"health and metrics on (\S+)")}
        assert len(urls) == 2, urls
        port = urls.pop().rsplit(":", 1)[1]
        with Process(folder, "run", "--kubeconfig", "d/kubeconfig", "--listen", f"127.0.0.1:{port}") as third:
            assert third.process.wait(PATIENCE) == 2
            assert "cannot listen" in third.log(), third.log()
    with Process(folder, "run", "--kubeconfig", "d/kubeconfig", "--listen", "none") as run:
        run.wait_for("connected to")
        assert "health and metrics" not in run.log()
        assert run.stop(signal.SIGINT) == 0


@test
def of_two_one_leads(folder):
    args = ["run", "--kubeconfig", "d/kubeconfig", "--leader-elect", "--listen", "127.0.0.1:0", "--log-level", "info"]
    with Process(folder, *args) as first:
        first.wait_for("lease taken")
        with Process(folder, *args) as second:
            url = second.wait_for(r"health and metrics on (\S+)")
            ready(url)
            assert "platoon_leader 0" in get(url + "/metrics")[1]
            assert first.stop() == 0
            second.wait_for("lease taken")
            assert second.stop() == 0


@test
def settings_come_from_a_file_and_flags_win(folder):
    write(folder, "run.yaml", "logLevel: info\nlisten: 127.0.0.1:0\nleaderElection: {enabled: true}\n")
    answer = subprocess.run([PLATOON, "run", "--config", "run.yaml", "--log-level", "error", "--print-config"], check=True,
                            text=True, stdout=subprocess.PIPE, cwd=folder).stdout
    for line in ("logLevel: error", "  enabled: true", "  duration: 15s", "defaultQueue: default-queue"):
        assert line in answer.splitlines(), answer
    write(folder, "again.yaml", answer)
    again = subprocess.run([PLATOON, "run", "--config", "again.yaml", "--print-config"], check=True, text=True,
                           stdout=subprocess.PIPE, cwd=folder).stdout
    assert again == answer, again


def settings_of(folder, *args):
    return subprocess.run([PLATOON, "run", *args, "--print-config"], check=True, text=True, stdout=subprocess.PIPE,
                          cwd=folder).stdout.replace("\n- ", " ").splitlines()


@test
def a_profile_gives_what_nobody_says(folder):
    usual, kai = settings_of(folder), settings_of(folder, "--profile", "kai")
    assert "schedulerNames: platoon kai-scheduler" in usual and "schedulerNames: kai-scheduler" in kai, kai
    assert "podGroupsForSinglePods: false" in usual and "podGroupsForSinglePods: true" in kai, kai
    assert "plainPodReasons: false" in usual and "plainPodReasons: true" in kai, kai
    assert "waitForConfigMaps: false" in usual and "waitForConfigMaps: true" in kai, kai
    assert "queuesNeedPool: false" in usual and "queuesNeedPool: true" in kai, kai
    assert "minimumsAsKai: false" in usual and "minimumsAsKai: true" in kai, kai
    write(folder, "kai.yaml", "profile: kai\npodGroupsForSinglePods: false\n")
    mixed = settings_of(folder, "--config", "kai.yaml")
    assert "podGroupsForSinglePods: false" in mixed and "schedulerNames: kai-scheduler" in mixed, mixed
    assert settings_of(folder, "--config", "kai.yaml", "--profile", "platoon") == usual
    write(folder, "kai.yaml", "profile: kia\n")
    answer = subprocess.run([PLATOON, "run", "--config", "kai.yaml"], check=False, text=True, stderr=subprocess.PIPE, cwd=folder)
    assert answer.returncode == 2 and "profile: must be platoon or kai" in answer.stderr, answer


def refused(folder, text):
    write(folder, "wrong.yaml", text)
    answer = subprocess.run([PLATOON, "run", "--config", "wrong.yaml"], check=False, text=True, stderr=subprocess.PIPE, cwd=folder)
    assert answer.returncode == 2, answer
    return answer.stderr


@test
def who_waits_long_is_a_setting_of_run(folder):
    assert "starvationAfter: 0s" in settings_of(folder)
    write(folder, "long.yaml", "starvationAfter: 30m\n")
    assert "starvationAfter: 30m" in settings_of(folder, "--config", "long.yaml")
    assert "starvationAfter: 10m" in settings_of(folder, "--config", "long.yaml", "--starvation-after", "10m")
    assert "starvationAfter: must be a duration such as 10m" in refused(folder, "starvationAfter: soon\n")


@test
def the_past_of_queues_is_a_setting_of_run(folder):
    usual = settings_of(folder)
    at = usual.index("timeBasedFairshare:")
    assert usual[at + 1:at + 6] == ["  enabled: false", "  kValue: 1", "  windowSize: 168h", "  windowType: sliding",
                                    "  halfLifePeriod: 0s"], usual
    write(folder, "steep.yaml", "timeBasedFairshare: {enabled: true, kValue: 10000.5}\nbudget: 3\n")
    assert "  kValue: 10000.5" in settings_of(folder, "--config", "steep.yaml")
    assert "budget: must be of type integer, not decimal" in refused(folder, "budget: 1.5\n")
    write(folder, "past.yaml", "timeBasedFairshare: {enabled: true, kValue: 2, windowType: tumbling}\n")
    given = settings_of(folder, "--config", "past.yaml")
    at = given.index("timeBasedFairshare:")
    assert given[at + 1:at + 5] == ["  enabled: true", "  kValue: 2", "  windowSize: 168h", "  windowType: tumbling"], given
    said = refused(folder, "timeBasedFairshare: {kValue: -1, windowSize: 10s, windowType: cron, halfLifePeriod: 1500ms}\n")
    for words in ("timeBasedFairshare.kValue: must be a number from 0 to 1000000", "timeBasedFairshare.windowSize: must be a duration",
                  "timeBasedFairshare.windowType: must be sliding or tumbling", "timeBasedFairshare.halfLifePeriod: must be"):
        assert words in said, said
    assert "timeBasedFairshare.kvalue: there is no such setting" in refused(folder, "timeBasedFairshare: {kvalue: 1}\n")


@test
def defragmentation_is_a_setting_of_run(folder):
    usual = settings_of(folder)
    at = usual.index("defragmentation:")
    assert usual[at + 1:at + 5] == ["  enabled: false", '  window: ""', "  movesPerHour: 20", '  level: ""'], usual
    said = refused(folder, "defragmentation: {window: tonight, movesPerHour: -1}\n")
    assert "defragmentation.window: must be two times of the day" in said, said
    assert "defragmentation.movesPerHour: must be a whole number" in said, said


@test
def a_profile_is_read_again(folder):
    text = "logLevel: info\nlisten: none\nschedulerNames: [profiled]\n"
    write(folder, "run.yaml", text)
    api = Api(os.path.join(folder, "d", "kubeconfig"))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "profiled", "namespace": "default"},
           "spec": {"schedulerName": "profiled", "containers": [{"name": "c", "image": "c"}]}}

    def groups():
        return [item["metadata"]["name"] for item in api.get("/apis/scheduling.run.ai/v2alpha2/podgroups")["items"]]

    with Process(folder, "run", "--kubeconfig", "d/kubeconfig", "--config", "run.yaml") as run:
        run.wait_for("connected to")
        write(folder, "run.yaml", text + "profile: kai\n")
        run.wait_for("configuration read")
        api.create("pods", pod)
        until("the pod has a PodGroup", lambda: any("profiled" in name for name in groups()), groups)
        assert run.stop() == 0


@test
def pods_wait_for_config_maps_that_do_not_exist(folder):
    """Of ConfigMaps only the metadata are asked for, and the one with the defaults of kinds is still read whole."""
    with RefusingProxy(folder, os.path.join(folder, "d/kubeconfig")) as proxy:
        with Process(folder, "run", "--kubeconfig", proxy.kubeconfig(os.path.join(folder, "proxy.json")), "--listen",
                     "none", "--profile", "kai", "--scheduler-name", "mapped", "--log-level", "info") as run:
            run.wait_for("connected to")
            spec = {"schedulerName": "mapped", "volumes": [{"name": "v", "configMap": {"name": "late"}}],
                    "containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}
            made = proxy.ask("POST", "/api/v1/namespaces/default/pods", {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mapped"}, "spec": spec})
            assert made["kind"] == "Pod", made

            def pod():
                return proxy.ask("GET", "/api/v1/namespaces/default/pods/mapped")

            def message():
                return " ".join(one.get("message", "") for one in pod()["status"].get("conditions", []))

            until("it waits for the ConfigMap", lambda: 'configmap "late" not found' in message(), pod)
            assert "nodeName" not in pod()["spec"], pod()
            proxy.ask("POST", "/api/v1/namespaces/default/configmaps", {
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}, "data": {"key": "value"}})
            until("it is bound", lambda: "nodeName" in pod()["spec"], pod)
            whole = [path for path, accept in proxy.asked if path.startswith("/api/v1/configmaps?") and
                     "PartialObjectMetadata" not in accept and "labelSelector=rbg" not in path]
            assert not whole and any("PartialObjectMetadata" in accept for _, accept in proxy.asked), proxy.asked
            assert run.stop() == 0, run.log()


@test
def all_that_is_wrong_is_told_at_once(folder):
    write(folder, "bad.yaml", "logLevel: loud\nschedulerNames: [\"\"]\nleaderElection: {duration: 1s, enabeld: true}\n"
          "webhooks: {enabled: 7, listen: nowhere}\nlistn: x\nbudget: -1\n")
    answer = subprocess.run([PLATOON, "run", "--config", "bad.yaml"], check=False, text=True, stderr=subprocess.PIPE, cwd=folder)
    assert answer.returncode == 2, answer
    for words in ("logLevel: must be", "schedulerNames[0]: must be", "leaderElection.duration: must be",
                  "leaderElection.enabeld: there is no such setting; use enabled", "webhooks.enabled: must be of type",
                  "webhooks.listen: must be", "listn: there is no such setting; use listen", "budget: must be"):
        assert words in answer.stderr, f"{words} is not in {answer.stderr}"
    for text in ("- a\n- b\n", "a: [\n", "a: 1\n---\nb: 2\n"):
        write(folder, "bad.yaml", text)
        answer = subprocess.run([PLATOON, "run", "--config", "bad.yaml"], check=False, text=True, stderr=subprocess.PIPE, cwd=folder)
        assert answer.returncode == 2 and "bad.yaml" in answer.stderr, answer
    answer = subprocess.run([PLATOON, "run", "--config", "none.yaml"], check=False, text=True, stderr=subprocess.PIPE, cwd=folder)
    assert answer.returncode == 2 and "none.yaml" in answer.stderr, answer


@test
def a_new_file_is_read_and_a_wrong_one_is_not(folder):
    write(folder, "run.yaml", "logLevel: info\nlisten: 127.0.0.1:0\n")
    with Process(folder, "run", "--kubeconfig", "d/kubeconfig", "--config", "run.yaml") as run:
        run.wait_for("connected to")
        run.process.send_signal(signal.SIGHUP)
        run.wait_for("configuration read")
        write(folder, "run.yaml", "logLevel: [\n")
        run.wait_for("the old one stays")
        write(folder, "run.yaml", "logLevel: info\nlogFormat: json\nlisten: none\nleaderElection: {enabled: true}\n")
        run.wait_for("need a restart.*(listen, leaderElection)")
        run.wait_for(r'\{.*"configuration read".*\}')
        assert run.stop() == 0, run.log()


@test
def kinds_of_workloads_come_and_go_without_a_restart(folder):
    text = "logLevel: info\nlisten: 127.0.0.1:0\n"
    write(folder, "run.yaml", text)
    with Process(folder, "run", "--kubeconfig", "d/kubeconfig", "--config", "run.yaml") as run:
        run.wait_for("connected to")
        write(folder, "run.yaml", text + "workloadKinds: [{group: jobs.example.com, version: v1, kind: Flow, resource: flows}]\n")
        run.wait_for("kind is followed.*resource=flows")
        run.wait_for("not on this server.*resource=flows")
        write(folder, "run.yaml", text)
        run.wait_for("kind is no longer followed.*resource=flows")
        assert "need a restart" not in run.log(), run.log()
        assert run.stop() == 0


@test
def a_file_that_says_the_same_changes_nothing(folder):
    text = "logLevel: info\nlisten: 127.0.0.1:0\nleaderElection: {enabled: true, name: same}\n"
    write(folder, "run.yaml", text)
    with Process(folder, "run", "--kubeconfig", "d/kubeconfig", "--config", "run.yaml") as run:
        url = run.wait_for(r"health and metrics on (\S+)")
        run.wait_for("lease taken")
        ready(url)

        def cycles():
            return int(re.search(r"platoon_decision_seconds_count (\d+)", get(url + "/metrics")[1]).group(1))

        before = cycles()
        assert before > 0
        # The same, another level of the log, and what needs a restart: whoever decides goes on.
        for times, new in enumerate((text, text + "logFormat: json\n", text.replace("same", "other")), 1):
            write(folder, "run.yaml", new)
            run.wait_for(r"(?s)(configuration read.*){%d}" % times)
            assert cycles() >= before, f"{new}: decisions began anew"
            assert "platoon_leader 1" in get(url + "/metrics")[1]
        write(folder, "run.yaml", text + "schedulerNames: [other]\n")
        run.wait_for(r"(?s)(configuration read.*){4}")
        ready(url)
        assert "lease lost" not in run.log() and run.log().count("lease taken") == 1, run.log()
        assert run.stop() == 0


def is_release(write):
    return write.startswith("PUT") and "/leases/" in write and '"holderIdentity":""' in write


@test
def writes_are_finished_before_the_lease_is_given_back(folder):
    with FakeApi() as api:
        api.held = "/queues"  # the one that a cluster without any gets
        # Nobody could take a lease of an hour that was not given back, and nothing ends because it took long.
        write(folder, "hour.yaml", "leaderElection: {enabled: true, duration: 1h}\nlisten: none\nlogLevel: info\n"
              "shutdownTimeout: 1h\n")
        args = ("run", "--kubeconfig", api.kubeconfig(os.path.join(folder, "fake.json")), "--config", "hour.yaml")
        with Process(folder, *args) as first:
            api.wait_for(lambda writes: any("/queues" in write for write in writes), "the queue was not made")
            with Process(folder, *args) as second:
                second.wait_for("connected to")
                first.process.send_signal(signal.SIGTERM)
                first.wait_for("waiting for answers of the API server")
                assert not any(map(is_release, api.log)), api.log
                api.release()
                assert first.process.wait(PATIENCE) == 0, first.log()
                told = [entry for entry in api.log if is_release(entry) or entry.startswith("answered POST") and "/queues" in entry]
                assert [is_release(entry) for entry in told][:2] == [False, True], told
                second.wait_for("lease taken")
                assert second.stop() == 0


@test
def a_server_that_never_answers_does_not_keep_it(folder):
    with FakeApi() as api:
        api.held = "/queues"
        write(folder, "hour.yaml", "leaderElection: {enabled: true, duration: 1h}\nlisten: none\nlogLevel: info\n"
              "shutdownTimeout: 1s\n")
        with Process(folder, "run", "--kubeconfig", api.kubeconfig(os.path.join(folder, "fake.json")), "--config",
                     "hour.yaml") as run:
            api.wait_for(lambda writes: any("/queues" in write for write in writes), "the queue was not made")
            assert run.stop() == 0, run.log()
            assert any(map(is_release, api.writes)), api.writes


@test
def a_queue_that_is_refused_is_made_later(folder):
    with FakeApi() as api:
        api.refused["/queues?"] = 2
        with Process(folder, "run", "--kubeconfig", api.kubeconfig(os.path.join(folder, "fake.json")), "--listen",
                     "none", "--log-level", "info") as run:
            run.wait_for("queue made")
            attempts = [write for write in api.writes if "/queues?" in write]
            assert len(attempts) == 3, attempts
            assert run.log().count("the default queue cannot be made") == 1, run.log()
            assert "not allowed" in run.log(), run.log()
            assert run.stop() == 0


@test
def a_refused_binding_is_told_and_tried_again(folder):
    with RefusingProxy(folder, os.path.join(folder, "d/kubeconfig")) as proxy:
        proxy.refused = "/binding"
        with Process(folder, "run", "--kubeconfig", proxy.kubeconfig(os.path.join(folder, "proxy.json")), "--listen",
                     "127.0.0.1:0", "--scheduler-name", "proxied") as run:
            url = run.wait_for(r"health and metrics on (\S+)")
            ready(url)
            made = proxy.ask("POST", "/api/v1/namespaces/default/pods", {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "refused"},
                "spec": {"schedulerName": "proxied", "containers": [{"name": "c", "image": "i"}]}})
            assert made["kind"] == "Pod", made

            def pod():
                return proxy.ask("GET", "/api/v1/namespaces/default/pods/refused")

            def condition():
                found = [one for one in pod()["status"].get("conditions", []) if one["type"] == "PodScheduled"]
                return found[0] if found else {}

            def reasons():
                events = proxy.ask("GET", "/api/v1/namespaces/default/events")["items"]
                return {one["reason"] for one in events if one["involvedObject"]["name"] == "refused"}

            until("the refusal is told", lambda: "refused by the test" in condition().get("message", ""), pod)
            assert (condition()["status"], condition()["reason"]) == ("False", "SchedulerError"), condition()
            until("there is an event", lambda: "FailedScheduling" in reasons(), reasons)
            assert "Scheduled" not in reasons() and "nodeName" not in pod()["spec"], (reasons(), pod())
            metrics = get(url + "/metrics")[1]
            refused = int(re.search(r"platoon_bindings_refused_total (\d+)", metrics).group(1))
            assert 1 <= refused <= proxy.count and "platoon_placements_total 0" in metrics, (refused, proxy.count)
            proxy.refused = None
            until("it is bound", lambda: "nodeName" in pod()["spec"], pod)
            until("that is told", lambda: "Scheduled" in reasons(), reasons)
            assert run.stop() == 0, run.log()


@test
def logs_as_records_are_nothing_but_records(folder):
    with FakeApi() as api:
        write(folder, "json.yaml", "logFormat: json\nlogLevel: info\nlisten: 127.0.0.1:0\nleaderElection: {enabled: true}\n")
        args = ("run", "--kubeconfig", api.kubeconfig(os.path.join(folder, "fake.json")), "--config", "json.yaml")
        with Process(folder, *args) as first:
            first.wait_for("lease taken")
            with Process(folder, *args) as second:
                second.wait_for("standby: another replica is the leader")
                assert second.stop() == 0
                assert first.stop() == 0
                for log in (first.log(), second.log()):
                    messages = [json.loads(line)["message"] for line in log.splitlines()]
                    assert messages[0] == "started" and "connected" in messages, messages
                    assert messages[-1] == "ended", messages
                    assert "token" not in log, log


@test
def a_command_for_credentials_that_is_not_there(folder):
    with FakeApi() as api:
        config = api.kubeconfig(os.path.join(folder, "fake.json"), {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-command", "installHint": "see example"}})
        with Process(folder, "run", "--kubeconfig", config, "--listen", "none") as run:
            assert run.process.wait(PATIENCE) == 2, run.log()
            assert run.log() == ("platoon run: the kubeconfig's context x gets its credentials from the command "
                                 "no-such-command (users[].user.exec.command), which is not in $PATH: see example\n")


@test
def a_slow_command_for_credentials_holds_nothing_up(folder):
    with FakeApi() as api:
        write(folder, "login", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.05; done\n"
                               "echo '{\"status\":{\"token\":\"t\"}}'\n")
        os.chmod(os.path.join(folder, "login"), 0o700)
        config = api.kubeconfig(os.path.join(folder, "fake.json"), {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "./login"}})
        with Process(folder, "run", "--kubeconfig", config, "--listen", "127.0.0.1:0") as run:
            url = run.wait_for(r"metrics on (http\S+)")
            for _ in range(3):
                assert get(url + "/livez")[0] == 200
            assert "connected" not in run.log()
            write(folder, "go", "")
            run.wait_for("connected to")
            assert run.stop() == 0


def main():
    failed = 0
    chosen = [case for case in TESTS if not sys.argv[2:] or case.__name__ in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as folder:
        with Process(folder, "up", "--in-memory", "--data-dir", "d", "--port", "0") as up:
            up.wait_for("The API listens")
            for case in chosen:
                try:
                    case(folder)
                except Exception:  # pylint: disable=broad-except
                    failed += 1
                    print(f"FAIL {case.__name__}")
                    traceback.print_exc(limit=4, file=sys.stdout)
            up.stop()
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
