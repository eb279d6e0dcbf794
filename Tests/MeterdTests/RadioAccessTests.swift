import Testing

@testable import meterd

struct RadioAccessTests {
    private func look(_ adapters: [String], _ capabilities: String?) -> RadioAccess {
        RadioAccess.look(
            adapters: adapters,
            status: "Name:\tmeterd\n" + (capabilities.map { "CapEff:\t\($0)\n" } ?? "") + "Seccomp:\t0\n")
    }

    @Test func machineWithoutAdapter_hasNone_whateverTheRights() {
        #expect(look([], "000001ffffffffff") == .none)
        #expect(look(["hci0:256"], "000001ffffffffff") == .none)
    }

    @Test func adapter_isUsableWithTheRight_andOnlyWithIt() {
        #expect(look(["hci0"], "000001ffffffffff") == .usable)
        #expect(look(["hci0", "hci0:256"], "0000000000001000") == .usable)
        #expect(look(["hci1"], "0000000000000000") == .forbidden)
        // CAP_NET_RAW alone.
        #expect(look(["hci1"], "0000000000002000") == .forbidden)
    }

    @Test(arguments: [nil, "", "x", "fffffffffffffffffffffffff"]) func whatCannotBeRead_isNoRight(capabilities: String?)
    {
        #expect(look(["hci0"], capabilities) == .forbidden)
    }
}
