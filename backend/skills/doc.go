// Package skills keeps the skills and commands of a folder: read, watched, trusted,
// switched, checked, written and installed. It offers sessions those that may be used.
//
// A skill that the user wrote outside the project may be used as it stands. So may a
// project's skill that runs nothing. One that has command lines or files that can be run
// is offered to nobody until the user accepted exactly what stands there; package trust
// remembers that, and [Skills.MayUse] asks it again just before a use.
package skills
