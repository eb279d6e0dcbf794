package import MeterModel

/// By what a USB device is known to be a meter of a model: a line of `udev/devices.tsv`.
package struct USBIdentity: Hashable, Sendable {
    package var vendor: UInt16
    /// nil means any product of that vendor.
    package var product: UInt16?
    package var subsystem: Subsystem
    /// Interfaces that the device must have, and must not have; empty: whatever it has.
    package var layout: Layout
    /// What the manufacturer's or the product's text must hold, in any case; nil means anything.
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

    /// The kind of device node that the meter is talked to over.
    package enum Subsystem: String, Sendable {
        case tty, hidraw
        /// The device itself, for an interface that no driver of the kernel's makes a node of.
        case usb

        /// Those by which a meter is told: the kernel makes such a node of an interface.
        package static let ofInterfaces: [Subsystem] = [.tty, .hidraw]
    }

    /// Classes of interfaces (USB-IF, Defined Class Codes) by which devices of the same ids differ. Never numbers of
    /// interfaces: those differ between models that are otherwise alike.
    package struct Layout: Hashable, Sendable {
        package var has: Set<UInt8>
        package var lacks: Set<UInt8>

        package init(has: Set<UInt8> = [], lacks: Set<UInt8> = []) {
            self.has = has
            self.lacks = lacks
        }

        package var isEmpty: Bool { has.isEmpty && lacks.isEmpty }

        /// - Parameter classes: of all interfaces; nil where nobody knows, which fits no layout that asks for something.
        package func fits(_ classes: Set<UInt8>?) -> Bool {
            guard !isEmpty else { return true }
            guard let classes else { return false }
            return has.isSubset(of: classes) && lacks.isDisjoint(with: classes)
        }
    }
}

/// What USB tells of a maker whose model it does not tell.
package struct USBMaker: Hashable, Sendable {
    package var maker: MeterMaker
    /// Vendor ids that nobody else has.
    package var vendors: Set<UInt16>
    /// What stands in the texts of its devices, lower case; nil where nothing does.
    package var word: String?
    /// Products of vendors that many other things carry, which nothing but its meters has, as far as anybody has
    /// published: they need no text, and the text that they have tells nothing.
    package var ownProducts: [UInt16: Set<UInt16>]

    package init(
        _ maker: MeterMaker, vendors: Set<UInt16> = [], word: String? = nil, ownProducts: [UInt16: Set<UInt16>] = [:]
    ) {
        self.maker = maker
        self.vendors = vendors
        self.word = word
        self.ownProducts = ownProducts
    }
}
