// Package contextir holds a conversation as typed items and lowers it to the
// messages that a model is sent. Items keep what compaction and accounting need
// (type, size). Only lowering turns them into messages for a provider.
//
// Settled items are lowered once. Calls without a result and empty messages never leave this
// package.
package contextir
