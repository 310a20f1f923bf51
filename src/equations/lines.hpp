#pragma once
// The lines of a text.

#include <string>

namespace shellac {

std::string trimmed(const std::string &text);
// Without what editors put in front of a text in UTF-8, and with one character at the end of a line.
std::string with_plain_lines(const std::string &text);
// With white space in place of comments; *opened: the line of a comment that is not closed.
std::string without_comments(const std::string &text, int *opened);

} // namespace shellac
