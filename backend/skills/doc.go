// Package skills keeps the skills and commands of a folder: read, watched, trusted,
// switched, checked, written and installed. It offers sessions those that may be used.
package skills
