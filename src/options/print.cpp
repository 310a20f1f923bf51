// Prints the options of all types as a page, and compares the lists in the public headers with the same tables.
//
// usage: shellac_options                        prints the page in Markdown
//        shellac_options -check PAGE HEADER...  fails, and prints the difference, where one of them is out of date
//        shellac_options -write PAGE HEADER...  brings them up to date

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "options/tables.hpp"

namespace shellac {

using Lines = std::vector<std::string>;

static bool starts_with(const std::string &text, const std::string &start) {
  return text.compare(0, start.size(), start) == 0;
}

// Characters on the screen: bytes of UTF-8 that begin one.
static size_t width(const std::string &text) {
  size_t n = 0;
  for (const char c : text) n += (c & 0xC0) != 0x80;
  return n;
}

static std::string padded(const std::string &text, size_t columns) {
  return text + std::string(columns > width(text) ? columns - width(text) : 0, ' ');
}

// The topic of an option: that with the longest prefix of its key.
static const Topic *topic_of(const Option &option) {
  const Topic *best = nullptr;
  for (const Topic &topic : topics)
    if (starts_with(option.key, topic.prefix) &&
        (!best || std::string(topic.prefix).size() > std::string(best->prefix).size()))
      best = &topic;
  return best;
}

// Tables begin a meaning with a capital letter or without; here it follows a name.
static std::string meaning_of(const Option &option) {
  std::string text = option.meaning;
  const auto  lower = [](char c) { return c >= 'a' && c <= 'z'; };
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && (lower(text[1]) || text[1] == ' ')) text[0] += 'a' - 'A';
  return text;
}

// ---- the page

// Of a table, which a bar would end. Values that are alternatives, as "v|w|f", become a list.
static std::string cell(const std::string &text, bool alternatives = false) {
  std::string out;
  for (const char c : text) out += c != '|' ? std::string(1, c) : alternatives ? ", " : "\\|";
  return out;
}

static std::string code(const std::string &text) {
  return "`" + text + "`";
}

static Lines page() {
  Lines lines = {
      "# Options",
      "",
      "All options of Shellac, by type. `-help` prints those that a program reads. The prefix of an object",
      "(`KSPSetOptionsPrefix()` and the like) goes before the name: `-fine_pc_stencilmg_levels 3`. PETSc ignores",
      "unknown names, for example misspelt ones; `-options_left` lists them at the end of a program.",
      "",
      "`cmake --build build/default --target write-options` writes this page and the lists in the headers from the tables",
      "`src/*/options.hpp`. The test `options-in-headers` compares them."};
  for (const Topic &topic : topics) {
    lines.insert(lines.end(), {"", std::string("## ") + topic.title, "", topic.summary, ""});
    lines.insert(lines.end(), {"| option, function | values | default | meaning |", "| --- | --- | --- | --- |"});
    for (const Table &table : tables)
      for (size_t i = 0; i < table.size; i++) {
        const Option &option = table.rows[i];
        if (topic_of(option) != &topic) continue;
        const std::string setter = option.setter ? option.setter : topic.name;
        const std::string names = code(option.key) + (setter == topic.name ? "" : "<br>" + code(setter + "()"));
        lines.push_back("| " + names + " | " + cell(option.values, true) + " | " + cell(option.fallback) + " | " +
                        cell(meaning_of(option)) + " |");
      }
  }
  return lines;
}

// ---- the lists in the headers

// The list that a docstring should have: PETSc's format, with `+ . -` before the first, the middle and the last item.
static Lines list_of(const std::vector<const Option *> &options) {
  const size_t line_width = 120, widest_head = 60;
  size_t       column = 0; // of the meanings, where no head is too wide for one
  Lines        heads, lines;
  for (const Option *option : options) {
    std::string head = option->key;
    if (option->values[0]) head += std::string(" <") + option->values + ">";
    heads.push_back(head);
    column = std::max(column, width(head));
  }
  if (column > widest_head) column = 0;
  for (size_t i = 0; i < options.size(); i++) {
    const char *marker = options.size() == 1 || (i > 0 && i + 1 < options.size()) ? "." : i ? "-" : "+";
    std::string line = std::string(marker) + "  " + padded(heads[i], column) + " -";
    std::string text = meaning_of(*options[i]);
    if (options[i]->fallback[0]) text += std::string("; default ") + options[i]->fallback;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (width(line) + 1 + width(word) > line_width) {
        lines.push_back(line);
        line = std::string(column + 5, ' ');
      }
      line += " " + word;
    }
    lines.push_back(line);
  }
  return lines;
}

static std::vector<const Option *> options_for(const std::string &docstring) {
  std::vector<const Option *> found;
  for (const Table &table : tables)
    for (size_t i = 0; i < table.size; i++) {
      const Option &option = table.rows[i];
      if (docstring == topic_of(option)->name || (option.setter && docstring == option.setter))
        found.push_back(&option);
    }
  return found;
}

// A header with the lists of its docstrings replaced by those that follow from the tables. A docstring without one gets it
// before its level.
static Lines with_lists(const Lines &header) {
  Lines                       lines;
  std::vector<const Option *> options; // of the docstring that the line is in, until they are listed
  const auto                  list = [&]() {
    lines.push_back(options.size() == 1 ? "   Options Database Key:" : "   Options Database Keys:");
    for (const std::string &line : list_of(options)) lines.push_back(line);
    options.clear();
  };
  for (size_t i = 0; i < header.size(); i++) {
    const std::string &line = header[i];
    if (starts_with(line, "/*@") || starts_with(line, "/*MC") || starts_with(line, "/*E")) {
      std::string name;
      std::istringstream(i + 1 < header.size() ? header[i + 1] : "") >> name;
      options = options_for(name);
    }
    if (options.size() && starts_with(line, "   Options Database Key")) {
      list();
      while (i + 1 < header.size() && header[i + 1].size()) i++; // the list as it stands
      continue;
    }
    if (options.size() && starts_with(line, "   Level:")) {
      list();
      lines.push_back("");
    }
    lines.push_back(line);
  }
  return lines;
}

// ---- files

static Lines read(const std::string &path) {
  std::ifstream file(path);
  Lines         lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

static void write(std::ostream &out, const Lines &lines) {
  for (const std::string &line : lines) out << line << "\n";
}

// The lines of one text that the other lacks, in their order.
static void print_missing(const char *sign, const Lines &from, const Lines &other) {
  for (const std::string &line : from) {
    bool found = false;
    for (const std::string &candidate : other) found = found || line == candidate;
    if (!found) std::cout << sign << line << "\n";
  }
}

static int run(const Lines &arguments) {
  if (arguments.empty()) {
    write(std::cout, page());
    return 0;
  }
  const bool writes = arguments[0] == "-write";
  if ((!writes && arguments[0] != "-check") || arguments.size() < 2) {
    std::cerr << "usage: shellac_options [-check|-write PAGE HEADER...]\n";
    return 1;
  }
  int outdated = 0;
  for (size_t i = 1; i < arguments.size(); i++) {
    const Lines is = read(arguments[i]), should_be = i == 1 ? page() : with_lists(is);
    if (is == should_be) continue;
    if (writes) {
      std::ofstream file(arguments[i]);
      write(file, should_be);
      std::cout << "wrote " << arguments[i] << "\n";
      continue;
    }
    outdated++;
    std::cout << arguments[i]
              << " does not follow from the tables of options (-: what stands there, +: what should):\n";
    print_missing("- ", is, should_be);
    print_missing("+ ", should_be, is);
  }
  if (outdated) std::cout << "`shellac_options -write` with the same arguments brings them up to date\n";
  return outdated != 0;
}

} // namespace shellac

int main(int argc, char **argv) {
  return shellac::run(shellac::Lines(argv + 1, argv + argc));
}
