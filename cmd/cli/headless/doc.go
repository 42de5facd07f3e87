// Package headless lets a program drive a session by lines of JSON: messages, steering,
// answers to permissions and questions, and interrupts. It also has answers in the form of a
// JSON schema.
package headless
