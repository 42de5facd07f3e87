// Package moved finds the sessions of a folder that was moved or renamed, and brings them
// over to where it is now.
//
// Only sessions of a folder that is missing are offered, to a folder without sessions. The event
// session_moved says so in each log. What was trusted and which rules held at the old path do not
// come along. A folder that only older programs knew is proposed by its name.
package moved
