import Foundation
import MagicData

/// All orders of a tenant as CSV, read in batches.
///
/// Each batch is read from its own snapshot. A client that receives slowly thereby keeps no
/// connection busy, and no snapshot open, which would prevent checkpoints. Between two batches, the
/// tenant's store may even be closed.
actor OrderExport {
  private let tenant: Tenant
  private let service: ShopService
  /// Released at the end of the export, so that a shutdown waits for it.
  private var permit: Gate.Permit?
  private var position: PagePosition<Order>?

  init(of tenant: Tenant, _ service: ShopService, _ permit: Gate.Permit) {
    self.tenant = tenant
    self.service = service
    self.permit = permit
  }

  /// Returns the next lines, or nil at the end.
  func next() async throws -> Data? {
    guard permit != nil else { return nil }
    let timeLimit = service.configuration.timeLimit
    let (text, end, hasMore) = try await service.tenants.withStore(of: tenant) {
      [position] store in
      try await store.read(deadline: .now + timeLimit) {
        let page = try store.fetch(Order.all.page(after: position, limit: 500))
        return (page.objects.map(OrderExport.line).joined(), page.end, page.hasMore)
      }
    }
    let header = position == nil ? "id,customer,sku,quantity\n" : ""
    position = end
    if !hasMore { permit = nil }
    return Data((header + text).utf8)
  }

  private static func line(_ order: Order) -> String {
    let customer = order.customer.replacingOccurrences(of: "\"", with: "\"\"")
    return "\(order.id),\"\(customer)\",\(order.product.sku),\(order.quantity)\n"
  }
}
