package backend

// AtLevel is which model a job of a level gets.
var AtLevel = (*Workbench).atLevel
