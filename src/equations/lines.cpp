#include "equations/lines.hpp"

#include <cctype>

namespace shellac {

std::string trimmed(const std::string &text) {
  size_t first = 0, last = text.size();
  while (first < last && std::isspace((unsigned char)text[first])) first++;
  while (last > first && std::isspace((unsigned char)text[last - 1])) last--;
  return text.substr(first, last - first);
}

std::string with_plain_lines(const std::string &text) {
  std::string out;
  for (size_t c = text.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0; c < text.size(); c++) {
    const bool returns = text[c] == '\r';
    if (!returns || c + 1 == text.size() || text[c + 1] != '\n') out += returns ? '\n' : text[c];
  }
  return out;
}

std::string without_comments(const std::string &text, int *opened) {
  std::string out = text;
  int         line = 1;
  enum { code, to_end_of_line, block } in = code;
  for (size_t c = 0; c < out.size(); c++) {
    const bool slash = text[c] == '/' && c + 1 < text.size();
    if (in == code && slash && text[c + 1] == '/')
      in = to_end_of_line;
    else if (in == code && slash && text[c + 1] == '*')
      *opened = line, in = block, out[c] = out[c + 1] = ' ', c++;
    else if (in == block && text[c] == '*' && c + 1 < text.size() && text[c + 1] == '/') {
      *opened = 0, in = code, out[c] = out[c + 1] = ' ', c++;
      continue;
    }
    if (text[c] == '\n') {
      line++;
      if (in == to_end_of_line) in = code;
    } else if (in != code)
      out[c] = ' ';
  }
  return out;
}

} // namespace shellac
