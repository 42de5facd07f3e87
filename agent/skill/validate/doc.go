// Package validate checks skills by rules: fourteen about their form, and one about the
// files that they refer to. It reads only what it is given.
package validate
