import Platform

extension Folder {
  /// Moves an entry to another folder, under another name if one is given, and says whether it was
  /// there. It never replaces another file.
  ///
  /// Where the system cannot do that in one call, the file has both names for a moment; a move
  /// that was cut off there is finished by the next.
  @discardableResult
  package func move(
    _ name: String, to other: Folder, as newName: String? = nil
  ) throws(AssetError) -> Bool {
    let newName = newName ?? name
    do {
      try call(name) { () throws(SystemFailure) in
        try operations.move(
          name, from: descriptor.number, to: other.descriptor.number, as: newName)
      }
      return true
    } catch .system(_, _, ENOENT) {
      return false
    } catch .system(_, _, let number) where [EINVAL, ENOSYS, ENOTSUP, EEXIST].contains(number) {
      return try moveByLink(name, to: other, as: newName)
    }
  }

  /// Gives a file a second name, in another folder.
  func link(_ name: String, to other: Folder, as newName: String) throws(AssetError) {
    try call(name) { () throws(SystemFailure) in
      try operations.link(name, from: descriptor.number, to: other.descriptor.number, as: newName)
    }
  }

  private func moveByLink(
    _ name: String, to other: Folder, as newName: String
  ) throws(AssetError) -> Bool {
    do {
      try link(name, to: other, as: newName)
    } catch .system(_, _, ENOENT) {
      return false
    } catch .system(let call, _, EEXIST) {
      guard let own = try file(name)?.status() else { return false }
      let present = try other.file(newName)?.status()
      guard own.device == present?.device, own.number == present?.number else {
        throw .system(call: call, path: other.path(of: newName), number: EEXIST)
      }
    }
    return try remove(name)
  }

  /// Makes everything written to this folder's file system last, if the system has a call for it.
  ///
  /// - Returns: False if it has none, and nothing was done.
  package func syncFileSystem() throws(AssetError) -> Bool {
    do {
      try retrying(path) { () throws(SystemFailure) in
        try operations.syncFileSystem(of: descriptor.number)
      }
      return true
    } catch .system(_, _, ENOSYS) {
      return false
    }
  }

  /// Takes the lock of this folder, until it is closed, and says whether nobody else has it.
  ///
  /// The lock belongs to this opening of the folder: two in one process exclude each other too.
  package func lock(waiting: Bool) throws(AssetError) -> Bool {
    do {
      try retrying(path) { () throws(SystemFailure) in
        try operations.lock(descriptor.number, waiting: waiting)
      }
      return true
    } catch .system(_, _, EWOULDBLOCK) {
      return false
    }
  }
}
