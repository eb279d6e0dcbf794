import Domain
package import Gateway
package import GatewayAPI
package import Hummingbird

/// Routes of meters. Each decodes the request, calls one service, and encodes the response (Docs/meterd-openapi.yaml).
package struct MeterRoutes: Sendable {
    let directory: MeterDirectory
    let zone: ZoneMeters
    let storeStatus: @Sendable () -> StoreStatus
    let version: VersionBody
    private let alertsRaised: @Sendable () -> Int

    /// - Parameter zone: nil for a host without a cloud.
    package init(
        directory: MeterDirectory, zone: ZoneMeters? = nil, version: VersionBody,
        alertsRaised: @escaping @Sendable () -> Int = { 0 },
        storeStatus: @escaping @Sendable () -> StoreStatus
    ) {
        self.directory = directory
        self.zone = zone ?? ZoneMeters(directory: directory)
        self.version = version
        self.alertsRaised = alertsRaised
        self.storeStatus = storeStatus
    }

    /// - Parameter metrics: nil to omit `/metrics`.
    package func router(
        with others: [any RouteGroup] = [], metrics: MetricsRoute? = nil
    ) -> Router<BasicRequestContext> {
        // Collect the routes in a list first: `ErrorMiddleware` needs it, but must be added before them.
        let list = Router(context: BasicRequestContext.self)
        add(others, metrics, to: list)
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: ErrorMiddleware(routes: RouteMethods(of: list)))
        add(others, metrics, to: router)
        return router
    }

    private func add(_ others: [any RouteGroup], _ metrics: MetricsRoute?, to router: Router<BasicRequestContext>) {
        metrics?.add(to: router)
        let api = router.group("v1")
        api.get("version") { _, _ in try JSON.response(version) }
        api.get("status") { _, _ in
            let meters = await zone.status()
            return try JSON.response(
                GatewayStatus(
                    meters: meters, adapters: await directory.adapters(), store: storeStatus(),
                    alerts_raised: alertsRaised()))
        }
        api.get("scan") { _, _ in try JSON.response(await directory.scan()) }
        api.get("scan/others") { _, _ in try JSON.response(await directory.others()) }
        let meter = api.group("meters/:meter")
        meter.get { _, context in
            try JSON.response(try await zone.status(of: try Self.reference(in: context)))
        }
        meter.post("connect") { request, context in
            let body = try await JSON.decode(ConnectRequest.self, from: request)
            return try JSON.response(await directory.connect(try Self.reference(in: context), body))
        }
        meter.post("disconnect") { _, context in
            try JSON.response(await directory.disconnect(try Self.reference(in: context)))
        }
        meter.delete { request, context in
            let readings = try request.flag("readings")
            return try JSON.response(
                try await directory.forget(try Self.reference(in: context), readings: readings))
        }
        addAliases(to: api)
        addSettings(to: meter)
        addStreams(to: meter)
        addLogs(to: meter)
        for group in others { group.add(to: api) }
    }

    private func addAliases(to api: RouterGroup<BasicRequestContext>) {
        api.get("aliases") { _, _ in try JSON.response(try await directory.listAliases()) }
        let alias = api.group("aliases/:alias")
        alias.post { request, context in
            let body = try await JSON.decode(AliasRequest.self, from: request)
            return try JSON.response(
                try await directory.alias(try Self.reference("alias", in: context), of: body.meter))
        }
        alias.delete { _, context in
            try JSON.response(try await directory.unalias(try Self.reference("alias", in: context)))
        }
    }

    private func addSettings(to meter: RouterGroup<BasicRequestContext>) {
        meter.get("settings") { _, context in
            try JSON.response(try await directory.settingsInDetail(of: try Self.reference(in: context)))
        }
        meter.patch("settings") { request, context in
            let body = try await JSON.decode(SettingsRequest.self, from: request)
            return try JSON.response(try await directory.set(body.settings, for: try Self.reference(in: context)))
        }
        meter.get("commands") { _, context in
            try JSON.response(try await commands(of: try Self.reference(in: context)))
        }
        meter.post("commands") { request, context in
            let body = try await JSON.decode(CommandRequest.self, from: request)
            let reference = try Self.reference(in: context)
            guard let kind = MeterCommand.Kind(rawValue: body.command) else {
                let known = try await commands(of: reference)
                let names =
                    known.model == nil ? MeterCommand.Kind.allCases.map(\.rawValue) : known.commands.map(\.command)
                throw GatewayError(
                    .badRequest, "no command is called \(body.command)",
                    next: names.suggestion(
                        for: body.command, "\(known.model ?? "a meter") takes \(names.joined(separator: ", "))"))
            }
            let command = MeterCommand(kind, body.number)
            if try await zone.order(.command(command), of: reference) == nil {
                try await directory.command(command, reference, by: .person)
            }
            return try JSON.response(await zone.status(of: reference))
        }
    }

    private func commands(of reference: String) async throws -> CommandsBody {
        let status = try await zone.status(of: reference)
        let profile = await directory.profile(of: MeterID(status.id), model: status.model)
        return CommandsBody(meter: status.id, model: status.model, commands: MeterSettings.commandBodies(for: profile))
    }

    /// Returns the percent-decoded name or id in the path.
    static func reference(_ parameter: String = "meter", in context: BasicRequestContext) throws -> String {
        let raw = try context.parameters.require(parameter)
        guard let decoded = raw.percentDecoded else {
            throw GatewayError(.badRequest, "\"\(raw)\" is not properly percent-encoded", next: "encode % as %25")
        }
        // Ids of ports contain slashes. Clients send them as ~2F, because nginx and Home Assistant would decode %2F and
        // so change the path.
        let isID = ["port:", "usb:"].contains { decoded.hasPrefix($0) }
        return isID ? decoded.replacing("~2F", with: "/") : decoded
    }
}
