// SPDX-License-Identifier: Apache-2.0
// In the place of the file of this name of swift-argument-parser in the programs that are installed (replace.sh). No command is
// asynchronous, so that the programs do not contain the libraries of Swift concurrency and dispatch.

/// The type by which the rest of the package recognises asynchronous commands.
public protocol AsyncParsableCommand: ParsableCommand {}
