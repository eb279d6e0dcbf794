"""The two virtual machines that the laboratory has, both without hardware virtualisation, which few test machines have."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def _shares(folders):
    """Options for folders of this machine, by tag; all but the results are only read."""
    options = []
    for tag, path in folders.items():
        rights = "" if tag == "results" else ",readonly=on"
        options += ["-fsdev", f"local,security_model=none,multidevs=remap,id={tag},path={path}{rights}",
                    "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    return options


def _ports(names):
    """Options for ports that lead to sockets of the air's."""
    options = ["-device", "virtio-serial-pci"]
    for name in names:
        options += ["-chardev", f"socket,id={name},path={name}", "-device", f"virtserialport,chardev={name},name=lab.{name}"]
    return options


COMMON = ["-m", "1536", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-initrd", "initramfs.cpio",
          "-device", "virtio-rng-pci"]
TWO_PROCESSORS = ["-accel", "tcg,thread=multi,tb-size=512", "-smp", "2"]
# One whose clock is the number of instructions that it has carried out: one each nanosecond, and none while it waits.
COUNTING = ["-accel", "tcg,thread=single,tb-size=512", "-smp", "1", "-icount", "shift=0,sleep=off"]


class AMD64:
    """Debian 12's kernel on this machine's own files; the adapters are the guest's /dev/vhci."""

    air_arguments = ()
    serial_adapter = False
    # Where the guest sees the project.
    root = ROOT
    busybox = "/bin/busybox"

    def __init__(self, folder):
        self.folder = folder

    def prepare(self, at):
        """Nothing more than all machines need."""

    def command(self):
        """QEMU, to be started in the results' folder."""
        return [*self._machine(f"{HERE}/boot/main"), *TWO_PROCESSORS, *_ports(["control", "hci0", "hci1"])]

    def counting(self, main):
        """QEMU as a machine whose clock counts instructions, with nothing around it, that starts this program."""
        return [*self._machine(main), *COUNTING]

    def _machine(self, main):
        words = f"console=ttyS0 quiet mitigations=off nokaslr panic=-1 tsc=reliable main={main}"
        # A newer CPU model only starts slower.
        return ["qemu-system-x86_64", "-M", "q35", "-cpu", "Nehalem", *COMMON, "-serial", "file:serial.log",
                "-kernel", os.path.join(self.folder, "vmlinuz"), "-append", words,
                *_shares({"machine": "/", "packages": f"{self.folder}/extra", "results": "."})]


class ARM64:
    """Debian 13's kernel and system for 64-bit Arm with systemd, and an adapter as a Raspberry Pi has it: behind the second
    serial port, by the device tree, with the driver of a Broadcom chip and a line that powers it.
    """

    air_arguments = ("--serial-adapter",)
    serial_adapter = True
    root = "/project"
    # What a Pi 3's device tree says (Linux, arch/arm64/boot/dts/broadcom/bcm2837-rpi-3-b.dts).
    MODEL, CHIP = "Raspberry Pi 3 Model B", "brcm,bcm43438-bt"
    # QEMU's names; the line is the one that air/broadcom.py follows.
    PORT, LINES, LINE = "/pl011@9040000", "/pl061@9030000", "5"

    def __init__(self, folder):
        self.folder = folder
        self.busybox = os.path.join(folder, "root/usr/bin/busybox")
        qemu = os.path.join(folder, "qemu/usr")
        libraries = f"{qemu}/lib/x86_64-linux-gnu"
        self._command = [f"{libraries}/ld-linux-x86-64.so.2", "--library-path", libraries, f"{qemu}/bin/qemu-system-aarch64",
                         "-L", f"{qemu}/share/qemu", "-M", "virt", "-cpu", "cortex-a53"]

    def prepare(self, at):
        """The device tree: QEMU's own, and the chip in it."""
        tree = os.path.join(at, "machine.dtb")
        self._run(*self._command, "-smp", "2", "-m", "1536", "-nodefaults", "-display", "none", "-serial", "null",
                  "-serial", "null", "-M", f"virt,dumpdtb={tree}")
        node = f"{self.PORT}/bluetooth"
        lines = self._run("fdtget", "-t", "x", tree, self.LINES, "phandle").strip()
        self._run("fdtput", "-t", "s", tree, "/", "model", self.MODEL)
        self._run("fdtput", "-c", tree, node)
        self._run("fdtput", "-t", "s", tree, node, "compatible", self.CHIP)
        self._run("fdtput", "-t", "i", tree, node, "max-speed", "2000000")
        self._run("fdtput", "-t", "x", tree, node, "shutdown-gpios", lines, self.LINE, "0")

    @staticmethod
    def _run(*command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def command(self):
        """It waits until the air follows the chip's line."""
        return [*self._machine("systemd main=/usr/lib/systemd/systemd"), *TWO_PROCESSORS, "-S",
                "-chardev", "socket,id=hci0,path=hci0", "-serial", "chardev:hci0", "-dtb", "machine.dtb",
                "-qmp", "unix:qmp,server=on,wait=off", "-qtest", "unix:qtest,server=on,wait=off", "-qtest-log", "/dev/null",
                *_ports(["control"])]

    def counting(self, main):
        """QEMU as a machine whose clock counts instructions, with nothing around it, that starts this program."""
        return [*self._machine(f"main={main}"), *COUNTING]

    def _machine(self, words):
        return [*self._command, *COMMON, "-serial", "file:serial.log", "-kernel", os.path.join(self.folder, "vmlinuz"),
                "-append", f"console=ttyAMA0 quiet panic=-1 {words}",
                *_shares({"machine": os.path.join(self.folder, "root"), "packages": f"{self.folder}/extra",
                          "project": ROOT, "results": "."})]
