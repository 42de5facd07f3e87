// Package repository lets confined git commands change a repository without letting
// them run anything outside of the confinement by the user's next git command (K-47).
//
// The folder of a repository is writable only for a line whose every program is git
// ([OnlyGit]), and there only for what no git command takes programs from
// ([Repository.Open]). What no mount can hold is compared when the line has ended
// ([Watch.End]).
package repository
