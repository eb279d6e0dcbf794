import Domain
package import Gateway
import MeterCodec

/// Contract of `MeterRepository`. Each clause needs an empty repository.
package enum MeterRepositoryContract {
    package typealias Clause = ContractClause<any MeterRepository>

    private static let one = MeterID.mac(MACAddress(bits: 0xAABB_CCDD_EEFF))
    private static let two = MeterID.usb(vendor: 0x2E3C, product: 0x0049, serial: "0042")

    package static var clauses: [Clause] {
        [
            Clause("meters_areNone_atFirst") { repository in
                try ContractViolation.requireEqual(await repository.meters(), [], "meters")
            },
            Clause("meter_comesBackWhole_whenSaved") { repository in
                for meter in samples { try await repository.save(meter) }
                try ContractViolation.requireEqual(Set(await repository.meters()), Set(samples), "meters")
            },
            Clause("meters_comeInOneOrder") { repository in
                for meter in samples.reversed() { try await repository.save(meter) }
                let ids = try await repository.meters().map(\.id)
                try ContractViolation.requireEqual(ids, ids.sorted(), "order")
            },
            Clause("meter_isReplaced_whenSavedAgain") { repository in
                try await repository.save(samples[0])
                let bare = KnownMeter(id: samples[0].id)
                try await repository.save(bare)
                try ContractViolation.requireEqual(await repository.meters(), [bare], "meters")
            },
            Clause("meter_isForgotten_andOthersStay") { repository in
                for meter in samples { try await repository.save(meter) }
                try await repository.forget(samples[0].id)
                try await repository.forget(samples[0].id)
                try ContractViolation.requireEqual(Set(await repository.meters()), Set(samples.dropFirst()), "meters")
            },
            Clause("meter_isSavedOnce_whenSavedUnchanged") { repository in
                try await repository.save(samples[0])
                try await repository.save(samples[0])
                try ContractViolation.requireEqual(await repository.meters(), [samples[0]], "meters")
            },
            Clause("meter_isSaved_whenTheTaskIsCancelled") { repository in
                try await inCancelledTask { try await repository.save(samples[0]) }
                try ContractViolation.requireEqual(await repository.meters(), [samples[0]], "meters")
            },
        ]
    }

    private static let samples: [KnownMeter] = [
        KnownMeter(
            id: one, model: .um25c, link: .serial(path: "/dev/rfcomm0"), isDeclared: true, isWanted: true,
            preferred: .spp, lastSeen: WallTime(millisecondsSince1970: 1_795_000_000_123)),
        KnownMeter(id: two, model: .fnb58, isWanted: true, plug: USBPlug(port: "1-1", serial: nil)),
        KnownMeter(
            id: .usbPort(vendor: 0x1A86, product: 0x7523, host: "pi", path: "1-1.2"), isDeclared: true,
            plug: USBPlug(port: "1-1.2", serial: "0042")),
        KnownMeter(
            id: .port(host: "pi", path: "/dev/serial/by-id/usb-x:0"), model: .tc66c,
            lastSeen: WallTime(millisecondsSince1970: -1)),
    ]
}

func inCancelledTask(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await body()
    }
    try await task.value
}
