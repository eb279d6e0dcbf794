package import Domain

/// Criteria that identify a USB device as a certain model: a line of `udev/devices.tsv`.
package struct USBIdentity: Hashable, Sendable {
    package var vendor: UInt16
    /// Product id; nil for any product of the vendor.
    package var product: UInt16?
    package var subsystem: Subsystem
    /// Interface classes that the device must have, and classes that it must not have.
    package var layout: Layout
    /// Text in the manufacturer or product name, ignoring case; nil for any text.
    package var match: String?
    package var model: ModelName

    package init(
        _ vendor: UInt16, _ product: UInt16?, _ subsystem: Subsystem, layout: Layout = Layout(),
        match: String? = nil, _ model: ModelName
    ) {
        self.vendor = vendor
        self.product = product
        self.subsystem = subsystem
        self.layout = layout
        self.match = match
        self.model = model
    }

    package enum Subsystem: String, Sendable {
        case tty, hidraw
        /// The USB device itself, for interfaces without a kernel driver.
        case usb

        /// Subsystems with a device node per interface.
        package static let ofInterfaces: [Subsystem] = [.tty, .hidraw]
    }

    /// Classes of interfaces (USB-IF, Defined Class Codes) that distinguish devices with the same ids. Interface
    /// numbers differ even between otherwise equal models.
    package struct Layout: Hashable, Sendable {
        package var has: Set<UInt8>
        package var lacks: Set<UInt8>

        package init(has: Set<UInt8> = [], lacks: Set<UInt8> = []) {
            self.has = has
            self.lacks = lacks
        }

        package var isEmpty: Bool { has.isEmpty && lacks.isEmpty }

        /// - Parameter classes: classes of all interfaces of a device; nil if unknown, which only fits an empty layout.
        package func fits(_ classes: Set<UInt8>?) -> Bool {
            guard !isEmpty else { return true }
            guard let classes else { return false }
            return has.isSubset(of: classes) && lacks.isDisjoint(with: classes)
        }
    }
}

/// USB properties that identify the maker of a meter whose model they do not identify.
package struct USBMaker: Hashable, Sendable {
    package var maker: MeterMaker
    /// Vendor ids that only this maker uses.
    package var vendors: Set<UInt16>
    /// Lower-case word in the USB texts of the maker's devices.
    package var word: String?
    /// Product ids, by shared vendor id, that only this maker's meters are known to have. They identify the maker
    /// without a text.
    package var ownProducts: [UInt16: Set<UInt16>]
    /// Whether serial numbers under the maker's vendor ids identify batches instead of devices.
    package var sharesSerials: Bool

    package init(
        _ maker: MeterMaker, vendors: Set<UInt16> = [], word: String? = nil,
        ownProducts: [UInt16: Set<UInt16>] = [:], sharesSerials: Bool = false
    ) {
        self.maker = maker
        self.vendors = vendors
        self.word = word
        self.ownProducts = ownProducts
        self.sharesSerials = sharesSerials
    }
}
