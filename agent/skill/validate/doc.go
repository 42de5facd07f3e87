// Package validate checks skills by fixed rules: the same text always has the same findings. It
// reads the folder that it is given, looks up in the project's folder whether a file exists, and
// runs nothing.
//
// The rules are a table: BMAD's fourteen, and those about what a skill refers to (rules.go). The
// preset bmad holds every rule to the letter. The preset generic asks no prefix and accepts more
// ways to say when a skill is for. A finding in a sound skill costs more trust than one that is
// missing, so a reference counts only where it can be nothing else: a link, a target, a variable
// for the skill's or the project's folder (references.go).
package validate
