// Package undoing undoes and redoes what sessions did to files, and takes back their conversations.
//
// What can be undone is folded from the logs ([agent/undo.History]); files are restored with
// three-way merges by [agent/undo]. A session is at rest meanwhile ([Undo.Exclusively]). What is
// going to be restored is stored first, so that a crash leaves no unrecorded change: whatever
// restores files next settles it. Other features restore files through [Undo.Files] and
// [Undo.Carry].
package undoing
