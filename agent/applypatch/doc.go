// Package applypatch changes files by patches in the format that OpenAI's
// models are trained to write (LOOP-50). Context lines, not line numbers, place
// the edits. A patch takes effect as a whole or not at all.
//
// There are three steps. [Parse] reads the text, or a [Draft] reads it while a
// model still writes it. [Patch.Plan] finds the place of every edit in the
// current files and computes their new contents. [Plan.Commit] writes. [Apply]
// does all three. A patch that cannot be applied is an [*Error], worded for the
// model that wrote it.
//
// The caller decides which files may be touched, by the function with which a
// plan reads, and by the [Files] to which it is committed.
//
// While a model still writes a patch, [Draft] says which files it changes and by how many lines.
package applypatch
