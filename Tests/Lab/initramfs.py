"""The guest's first file system."""

import lzma
import os
import shutil
import subprocess

from machines import HERE


def make_initramfs(kind, at):
    """busybox, boot/init and the modules that the machine's files need."""
    folder, tree = kind.folder, os.path.join(at, "initramfs")
    for name in ("bin", "modules", "dev", "proc", "sys", "machine", "packages", "memory", "tree"):
        os.makedirs(os.path.join(tree, name))
    shutil.copy(kind.busybox, os.path.join(tree, "bin"))
    shutil.copy(os.path.join(HERE, "boot", "init"), tree)
    with open(os.path.join(folder, "release")) as file:
        release = file.read().strip()
    order = []
    for module in ("virtio_pci", "9pnet_virtio", "9p", "overlay"):
        lines = subprocess.run(["/sbin/modprobe", "-d", os.path.join(folder, "extra/usr"), "-S", release, "--show-depends", module],
                               check=True, capture_output=True, text=True).stdout.splitlines()
        for line in lines:
            if line.startswith("insmod ") and (path := line.split()[1]) not in order:
                order.append(path)
    modules = [os.path.join(tree, "modules", os.path.basename(path).removesuffix(".xz")) for path in order]
    for path, module in zip(order, modules):
        with (lzma.open if path.endswith(".xz") else open)(path, "rb") as packed, open(module, "wb") as file:
            shutil.copyfileobj(packed, file)
    with open(os.path.join(tree, "modules", "order"), "w") as file:
        file.writelines(os.path.basename(module) + "\n" for module in modules)
    names = subprocess.run(["find", "."], cwd=tree, check=True, capture_output=True).stdout
    with open(os.path.join(at, "initramfs.cpio"), "wb") as file:
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], cwd=tree, input=names, stdout=file, check=True)
    shutil.rmtree(tree)
