# SPDX-License-Identifier: MIT
"""One sample of one proxy that ends its clients' TLS, in front of plain servers.

All clients are of tests/tools/tlsload and speak TLS 1.3 with the same cipher and
key exchange to every proxy; a sample in which that was not so is an error."""

import pathlib
import signal
import subprocess
import tempfile

from contenders import GROUP
from measuring.load import tlsload, tlsload_argv
from measuring.process import (
    DEADLINE_S, MeasuringError, Process, wait_line)
from measuring.short import brief
from samples import IDLE_SESSIONS, Samples, settled

# Version, cipher, key exchange.
AGREED = ("TLSv1.3", "TLS_AES_256_GCM_SHA384", GROUP)
KEYS = {"RSA 2048": ["rsa:2048"],
        "P-256": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]}
AT_ONCE = 16
ESTABLISHED = 64
RATE = 1000
STORM = 24
HANDSHAKES_MS = brief(2000, 500, 100)
REQUESTS_MS = brief(2000, 500, 100)
STORM_MS = brief(4000, 500, 200)
WARM_MS = brief(300, 100, 50)
BULK_BYTES = brief(1 << 30, 64 << 20, 8 << 20)


def make_certificate(directory, name, key):
    """A certificate that vouches for itself, and its key, in one file."""
    path = pathlib.Path(directory, f"{name.replace(' ', '-')}.pem")
    parts = [f"{path}.key", f"{path}.crt"]
    done = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-days", "2",
         "-subj", "/CN=bench.example", "-addext",
         "subjectAltName=DNS:bench.example", "-keyout", parts[0],
         "-out", parts[1]],
        capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    if done.returncode != 0:
        raise MeasuringError(f"openssl: {done.stderr}")
    path.touch(mode=0o600)
    path.write_text("".join(
        pathlib.Path(p).read_text(encoding="ascii") for p in parts),
        encoding="ascii")
    return path


class TlsSamples(Samples):
    def __init__(self, build):
        super().__init__(build)
        self.directory = tempfile.TemporaryDirectory(prefix="lfproxy-bench.")
        self.certificates = {
            name: make_certificate(self.directory.name, name, key)
            for name, key in KEYS.items()}

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.directory.cleanup()

    def load(self, proxy, mode, *options, **more):
        told = tlsload(self.build, mode, proxy.address, "--sni",
                       "bench.example", "--groups", GROUP, *options, **more)
        if (told["version"], told["cipher"],
                told["group"].upper()) != AGREED:
            raise MeasuringError(f"{proxy.name}: {told}, and not {AGREED}")
        return told

    def start_tls(self, name, key="P-256"):
        proxy = self.contenders[name](name, [self.server.address],
                                      tls=self.certificates[key])
        with proxy.unless_it_fails():
            self.load(proxy, "handshakes", "--ms", WARM_MS)
        return proxy

    def handshakes(self, name, key, *options):
        """Connections with a handshake, one request and the end."""
        with self.start_tls(name, key) as proxy:
            before = proxy.cpu_s()
            told = self.load(proxy, "handshakes", "--connections", AT_ONCE,
                             "--ms", HANDSHAKES_MS, *options)
            spent = proxy.cpu_s() - before
        # The first of each client has nothing to resume.
        most = told["handshakes"] - AT_ONCE
        if told["resumed"] not in ((most,) if "--resume" in options else (0,)):
            raise MeasuringError(f"{name}: {told['resumed']} resumed of "
                                 f"{told['handshakes']}")
        return {"cpu_us": spent * 1e6 / told["handshakes"],
                "per_s": told["per_s"], "p50_us": told["p50_us"],
                "p99_us": told["p99_us"]}

    def full_rsa(self, name):
        return self.handshakes(name, "RSA 2048")

    def full_ecdsa(self, name):
        return self.handshakes(name, "P-256")

    def resumed(self, name):
        return self.handshakes(name, "P-256", "--resume")

    def tls_keep_alive(self, name):
        """Requests over established sessions, as fast as they go."""
        with self.start_tls(name) as proxy:
            told = self.load(
                proxy, "requests", "--closed", "--connections", ESTABLISHED,
                "--ms", REQUESTS_MS, "--warm-ms", WARM_MS,
                marked=proxy.cpu_s)
        before, after = told["marked"]
        return {"cpu_us": (after - before) * 1e6 / told["requests"],
                "per_s": told["per_s"], "p50_us": told["p50_us"],
                "p99_us": told["p99_us"]}

    def tls_bulk(self, name, *options):
        with self.start_tls(name) as proxy:
            before = proxy.cpu_s()
            told = self.load(proxy, "bulk", "--connections", 1, "--bytes",
                             BULK_BYTES, *options)
            spent = proxy.cpu_s() - before
        return {"cpu_s_per_gb": spent * 1e9 / told["bytes"],
                "gbit_s": told["bytes"] * 8 / told["ns"]}

    def tls_upload(self, name):
        return self.tls_bulk(name, "--up")

    def tls_idle(self, name):
        """Memory that a session keeps, as Samples.idle measures it."""
        with self.start_tls(name) as proxy:
            settled(proxy)
            before = proxy.pss_kib()
            argv = tlsload_argv(self.build, "idle", proxy.address,
                                "--groups", GROUP, "--connections",
                                IDLE_SESSIONS)
            with Process(argv, stdout=subprocess.PIPE) as clients:
                wait_line(clients.child.stdout, "^established", "tlsload idle")
                settled(proxy)
                kib = proxy.pss_kib() - before
                clients.child.send_signal(signal.SIGTERM)
                if clients.child.wait(DEADLINE_S) != 0:
                    raise MeasuringError(f"{name}: an idle session broke")
        return {"kib": kib / IDLE_SESSIONS}

    def established(self, name, key, mode, *options):
        """Requests at a rate: all times that their clients see."""
        with self.start_tls(name, key) as proxy:
            told = self.load(
                proxy, mode, "--connections", ESTABLISHED, "--rate", RATE,
                "--ms", STORM_MS, "--warm-ms", WARM_MS, *options)
        return {**{n: told[n] for n in ("p50_us", "p99_us", "p999_us")},
                **({"handshakes_s": told["storm"]["per_s"]}
                   if mode == "storm" else {})}

    def storm_rsa(self, name):
        return self.established(name, "RSA 2048", "storm", "--storm", STORM)

    def storm_ecdsa(self, name):
        return self.established(name, "P-256", "storm", "--storm", STORM)

    def calm(self, name):
        return self.established(name, "P-256", "requests")
