// Package skills keeps the skills and commands of a folder: read, watched, trusted,
// switched, checked, written and installed. It offers sessions those that may be used.
//
// A skill that the user wrote outside the project may be used as it stands. So may a
// project's skill that runs nothing. One that has command lines or files that can be run
// is offered to nobody until the user accepted exactly what stands there; package trust
// remembers that, and [Skills.MayUse] asks it again just before a use.
//
// All files of such a skill are pinned, and nothing weaker is used under its name meanwhile. MayUse
// judges the skill as the caller holds it, so that a file that is put back for the check does not
// help. An archive is unpacked into memory, within limits, and refused as a whole if it has a link,
// a device or a name that means something else elsewhere; what is installed is what the seal of the
// review stands for. What is removed or replaced is in trash/skills below the home folder, from
// where it can be restored.
package skills
