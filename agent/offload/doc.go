// Package offload keeps long results of tools as files beside a session, so that a
// conversation can leave them out and the model can read them again (COM-20, COM-21, COM-22).
//
// A file is written whole or not at all, is readable by its owner alone, and is compressed
// with gzip, which the tool Read understands. Whoever owns the folder removes it with the
// session.
package offload
