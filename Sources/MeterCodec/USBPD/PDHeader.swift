/// First two bytes of a USB Power Delivery message, little-endian (USB PD specification 3.1, 6.2.1.1; Linux,
/// include/linux/usb/pd.h, PD_HEADER).
package struct PDHeader: Hashable, Sendable {
    package static let length = 2

    package let word: UInt16

    package init(word: UInt16) { self.word = word }

    /// - Parameters:
    ///   - type: 5 bits.
    ///   - id: counts the sender's messages, 0 to 7.
    ///   - objectCount: 0 to 7.
    ///   - isSource: whether the sender provides power and faces downstream.
    ///   - revision: 1 to 3.
    package init(
        type: UInt8, id: UInt8, objectCount: Int, isSource: Bool, revision: UInt16 = 3, isExtended: Bool = false
    ) {
        word =
            UInt16(type & 0x1F) | (isSource ? 0x0120 : 0) | (max(revision, 1) - 1 & 3) << 6 | UInt16(id & 7) << 9
            | UInt16(truncatingIfNeeded: objectCount & 7) << 12 | (isExtended ? 0x8000 : 0)
    }

    package var type: UInt8 { UInt8(truncatingIfNeeded: word & 0x1F) }
    /// Revision from 1 to 3; nil for the reserved value.
    package var revision: Int? { word >> 6 & 3 == 3 ? nil : Int(word >> 6 & 3) + 1 }
    /// Number of the message, 0 to 7, counted by the sender.
    package var id: Int { Int(word >> 9 & 7) }
    /// Number of four-byte objects that follow. In a chunked extended message: length of the padded chunk in units of
    /// four bytes.
    package var objectCount: Int { Int(word >> 12 & 7) }
    package var isExtended: Bool { word & 0x8000 != 0 }
    /// Bit 8: whether the sender provides power. In messages to or from a cable plug: whether the sender is that plug.
    package var isFromSourceOrPlug: Bool { word & 0x0100 != 0 }

    package var kind: Kind {
        if isExtended { return .extended }
        return objectCount == 0 ? .control : .data
    }

    /// Category of a message, with its own table of types.
    package enum Kind: String, Hashable, Sendable {
        case control, data, extended
    }

    /// Name in the specification; nil for a reserved type.
    package var name: String? {
        switch kind {
        case .control: Self.controlNames[type]
        case .data: Self.dataNames[type]
        case .extended: Self.extendedNames[type]
        }
    }

    /// Name of the type, or its number if it has no name.
    package var title: String { name ?? "\(kind.rawValue) message \(type)" }

    package static let goodCRC: UInt8 = 1
    package static let accept: UInt8 = 3
    package static let reject: UInt8 = 4
    package static let supplyReady: UInt8 = 6
    package static let wait: UInt8 = 12
    static let softReset: UInt8 = 13
    package static let sourceCapabilities: UInt8 = 1
    package static let request: UInt8 = 2
    static let sinkCapabilities: UInt8 = 4
    package static let extendedRangeRequest: UInt8 = 9
    static let extendedRangeMode: UInt8 = 10
    static let vendorDefined: UInt8 = 15
    static let extendedControl: UInt8 = 16
    static let extendedRangeSourceCapabilities: UInt8 = 17

    /// Whether this is a GoodCRC message.
    package var isAcknowledgement: Bool { kind == .control && type == Self.goodCRC }

    // Names are those of the specification (6.3, 6.4, 6.5). Numbers of control and data messages: elagil/usbpd,
    // usbpd/src/protocol_layer/message/header.rs. Numbers of extended ones: ChromiumOS EC, include/usb_pd.h,
    // pd_ext_msg_type.

    private static let controlNames: [UInt8: String] = [
        1: "GoodCRC", 2: "GotoMin", 3: "Accept", 4: "Reject", 5: "Ping", 6: "PS_RDY", 7: "Get_Source_Cap",
        8: "Get_Sink_Cap", 9: "DR_Swap", 10: "PR_Swap", 11: "VCONN_Swap", 12: "Wait", 13: "Soft_Reset",
        14: "Data_Reset", 15: "Data_Reset_Complete", 16: "Not_Supported", 17: "Get_Source_Cap_Extended",
        18: "Get_Status", 19: "FR_Swap", 20: "Get_PPS_Status", 21: "Get_Country_Codes",
        22: "Get_Sink_Cap_Extended", 23: "Get_Source_Info", 24: "Get_Revision",
    ]

    private static let dataNames: [UInt8: String] = [
        1: "Source_Capabilities", 2: "Request", 3: "BIST", 4: "Sink_Capabilities", 5: "Battery_Status", 6: "Alert",
        7: "Get_Country_Info", 8: "Enter_USB", 9: "EPR_Request", 10: "EPR_Mode", 11: "Source_Info", 12: "Revision",
        15: "Vendor_Defined",
    ]

    private static let extendedNames: [UInt8: String] = [
        1: "Source_Capabilities_Extended", 2: "Status", 3: "Get_Battery_Cap", 4: "Get_Battery_Status",
        5: "Battery_Capabilities", 6: "Get_Manufacturer_Info", 7: "Manufacturer_Info", 8: "Security_Request",
        9: "Security_Response", 10: "Firmware_Update_Request", 11: "Firmware_Update_Response", 12: "PPS_Status",
        13: "Country_Info", 14: "Country_Codes", 15: "Sink_Capabilities_Extended", 16: "Extended_Control",
        17: "EPR_Source_Capabilities", 18: "EPR_Sink_Capabilities", 30: "Vendor_Defined_Extended",
    ]
}
