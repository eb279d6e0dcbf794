import Glibc

/// A /sys, a /dev and hot-plug events that libudev and this process take for the kernel's: umockdev's testbed.
///
/// Works in a process that was started by `umockdev-wrapper` alone; one at a time. Its functions are looked up in the
/// library, which is there only where umockdev is.
final class MockTestbed {
    private typealias New = @convention(c) () -> OpaquePointer?
    private typealias Add =
        @convention(c) (
            OpaquePointer, UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32
    private typealias Event = @convention(c) (OpaquePointer, UnsafePointer<CChar>, UnsafePointer<CChar>) -> Void
    private typealias Folder = @convention(c) (OpaquePointer) -> UnsafeMutablePointer<CChar>?
    private typealias Remove = @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> Void
    private typealias Unreference = @convention(c) (OpaquePointer) -> Void

    private let library: UnsafeMutableRawPointer
    private let testbed: OpaquePointer

    /// Whether the process was started for it.
    static var isPossible: Bool {
        getenv("LD_PRELOAD").map { String(cString: $0).contains("umockdev") } ?? false
    }

    struct Failure: Error { var what: String }

    init() throws {
        guard let library = dlopen("libumockdev.so.0", RTLD_NOW) else { throw Failure(what: "no libumockdev") }
        self.library = library
        let new: New = try Self.function("umockdev_testbed_new", in: library)
        guard let testbed = new() else { throw Failure(what: "no testbed") }
        self.testbed = testbed
    }

    deinit {
        // The function was there when the library was loaded; a process that ends would do as well.
        let unreference: Unreference? = try? Self.function("g_object_unref", in: library)
        unreference?(testbed)
    }

    /// Adds devices in umockdev's form, and tells of each as the kernel does.
    func add(_ devices: String) throws {
        let add: Add = try Self.function("umockdev_testbed_add_from_string", in: library)
        guard add(testbed, devices, nil) != 0 else { throw Failure(what: "umockdev does not take \(devices)") }
    }

    /// Takes a device away in the kernel's order: the node first, then it tells.
    func remove(_ sysfsPath: String, node: String) throws {
        let event: Event = try Self.function("umockdev_testbed_uevent", in: library)
        let folder: Folder = try Self.function("umockdev_testbed_get_root_dir", in: library)
        let remove: Remove = try Self.function("umockdev_testbed_remove_device", in: library)
        guard let root = folder(testbed) else { throw Failure(what: "no folder") }
        defer { free(root) }
        // By its real name: unlink is not among what umockdev redirects.
        guard unlink(String(cString: root) + node) == 0 else { throw Failure(what: "no \(node)") }
        event(testbed, sysfsPath, "remove")
        remove(testbed, sysfsPath)
    }

    private static func function<Function>(_ name: String, in library: UnsafeMutableRawPointer) throws -> Function {
        guard let address = dlsym(library, name) else { throw Failure(what: "no \(name)") }
        return unsafeBitCast(address, to: Function.self)
    }
}
