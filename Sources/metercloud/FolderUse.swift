import CloudServer
import Glibc
import LinuxIO
import ProgramKit

/// Checks whether a cloud's folder belongs to a SQLite store or to a cloud in etcd. For etcd, a mark file keeps
/// commands from creating an empty SQLite store.
extension CloudFolder {
    private var etcdMark: String { "\(path)/etcd" }
    private var file: String { "\(path)/cloud.db" }

    var isOverEtcd: Bool { access(etcdMark, F_OK) == 0 }
    var hasFile: Bool { access(file, F_OK) == 0 }

    /// Throws if the folder belongs to a store of the other kind.
    func check(forEtcd: Bool) throws(CommandFailure) {
        if !forEtcd, isOverEtcd {
            throw CommandFailure(
                .error, "\(path) belongs to a cloud in etcd", next: "give --engine etcd, or another --data")
        }
        if forEtcd, hasFile {
            throw CommandFailure(
                .error, "\(path) has a cloud of its own in a file",
                next: "metercloud migrate brings it into etcd; or give this copy another --data")
        }
    }

    /// Marks the folder as belonging to a cloud in etcd. Call it only after etcd was reached.
    func markAsOverEtcd() throws(CommandFailure) {
        let words = "This copy's cloud is in etcd: metercloud serve --engine etcd\n"
        do throws(Errno) {
            try WholeFile.replace(etcdMark, with: Array(words.utf8))
        } catch {
            throw CommandFailure(.error, "\(etcdMark) cannot be written: \(error.words)", next: "make room on the disk")
        }
    }

    /// Throws if the cloud is in etcd, so that this command cannot open the store itself.
    func checkStoreIsHere() throws(CommandFailure) {
        guard isOverEtcd else { return }
        throw CommandFailure(
            .error, "no metercloud runs on \(path), whose cloud is in etcd",
            next: "start it with metercloud serve --engine etcd, or ask where a copy of it runs")
    }
}
