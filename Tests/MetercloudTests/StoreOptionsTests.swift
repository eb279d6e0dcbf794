import ArgumentParser
import CloudEtcd
import CloudServer
import Foundation
import MeterTestKit
import ProgramKit
import Testing

@testable import metercloud

/// Where the cloud keeps what it knows.
struct StoreOptionsTests {
    private func options(_ arguments: [String]) throws -> StoreOptions {
        try #require(try Metercloud.parseAsRoot(["serve"] + arguments) as? Serve).store
    }

    @Test func store_isAFile_unlessEtcdIsAskedFor() throws {
        #expect(try options([]).etcd == nil)
        let url = "http://127.0.0.1:2379"
        let settings = try #require(
            try options(["--engine", "etcd", "--etcd", url, "--etcd", "https://b:1", "--etcd-prefix", "lab"]).etcd)
        #expect(settings.urls == [url, "https://b:1"])
        #expect(settings.prefix == "lab/")
        #expect(try options(["--engine", "etcd", "--etcd", url]).etcd?.prefix == "metercloud/")
    }

    @Test(arguments: [
        ["--engine", "etcd"], ["--etcd", "http://a:1"], ["--etcd-user", "x"], ["--engine", "files"],
        ["--engine", "etcd", "--etcd", "http://a:1", "--etcd-user", "x"],
        ["--engine", "etcd", "--etcd", "http://a:1", "--etcd-key", "x"],
        ["--engine", "etcd", "--etcd", "http://a:1", "--etcd-prefix", ""],
    ])
    func options_areRefused_whenTheyDoNotFit(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try Metercloud.parseAsRoot(["serve"] + arguments) }
    }

    @Test func restore_takesAFileOrEtcd_orBoth() throws {
        _ = try Metercloud.parseAsRoot(["restore", "backup"])
        _ = try Metercloud.parseAsRoot(["restore", "--engine", "etcd", "--etcd", "http://a:1"])
        _ = try Metercloud.parseAsRoot(["restore", "backup", "--engine", "etcd", "--etcd", "http://a:1"])
        #expect(throws: (any Error).self) { try Metercloud.parseAsRoot(["restore"]) }
    }

    @Test func password_isTheFilesFirstLine() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/password"
        let arguments = [
            "--engine", "etcd", "--etcd", "http://127.0.0.1:1", "--etcd-user", "x", "--etcd-password-file", path,
        ]
        #expect(throws: CommandFailure.self) { _ = try options(arguments).etcd }
        try Data("s3cret \nmore\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try options(arguments).etcd?.password == "s3cret ")
        try Data("\nmore\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: CommandFailure.self) { _ = try options(arguments).etcd }
    }

    @Test func folder_isOfOneKindAlone() throws {
        let folder = try TemporaryFolder()
        let cloud = CloudFolder(path: folder.path)
        try cloud.check(forEtcd: true)
        try cloud.check(forEtcd: false)
        try cloud.checkStoreIsHere()

        try cloud.markAsOverEtcd()

        try cloud.check(forEtcd: true)
        #expect(throws: CommandFailure.self) { try cloud.check(forEtcd: false) }
        #expect(throws: CommandFailure.self) { try cloud.checkStoreIsHere() }
        let file = CloudFolder(path: try TemporaryFolder().path)
        try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: "\(file.path)/cloud.db"))
        #expect(throws: CommandFailure.self) { try file.check(forEtcd: true) }
        try FileManager.default.removeItem(atPath: file.path)
    }
}
