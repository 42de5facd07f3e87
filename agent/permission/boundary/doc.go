// Package boundary says whether a path or a command line stays within the lists
// that a user set: which programs may run, and which files may be read and
// written (OAS-641 to OAS-655). It looks at the text of a line and starts
// nothing; what an allowed program does by itself is the operating system's to
// confine.
//
// Lines are read by command.Trace: every program, also within others, with the files that it reads
// and writes and the code that it is handed; scripts for a shell are read too. A line that cannot
// be analysed is denied if the lists say which programs may run; otherwise the user is asked.
// Sessions keep to the lists through rule.Set.Within, before every rule and in every mode (K-51).
package boundary
