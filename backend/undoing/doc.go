// Package undoing undoes and redoes what sessions did to files, and takes back their conversations.
//
// What can be undone is folded from the logs ([agent/undo.History]); files are restored with
// three-way merges by [agent/undo]. A session is at rest meanwhile ([Undo.Exclusively]). What is
// going to be restored is a file in restoring below the home folder until it is an event,
// files_restored. After a crash, whatever opens the session or restores files next finds out what
// was done. Other features restore files through [Undo.Files] and
// [Undo.Carry].
package undoing
