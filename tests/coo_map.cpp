// The map from the values of a COO list to the coefficients that they are summed in, as the host and GPUs read it.

#include "capture/coo.hpp"
#include "catch.hpp"

#include <random>

using namespace shellac;

namespace {

struct Listed {
  int    slot; // negative: ignored
  size_t at;
};

constexpr int    slots = 5;
constexpr size_t points = 1000;

// Sums of these entries' values by the map and one by one; sent: entries of other ranks, the last ones.
void check(const std::vector<Listed> &entries, PetscInt sent) {
  CooMap                   map;
  std::vector<PetscScalar> values;
  MapMaker                 maker(&map, slots, points, entries.size());
  std::vector<PetscScalar> expected(slots * points, 0);
  for (const Listed &e : entries) {
    values.push_back((PetscScalar)(PetscReal)(values.size() + 1));
    if (e.slot < 0) {
      maker.add_ignored();
      continue;
    }
    maker.add(e.slot, e.at);
    expected[(size_t)e.slot * points + e.at] += values.back();
  }
  maker.finish();
  map.sent = sent;
  map.own = (PetscInt)entries.size() - sent;
  const PetscScalar      *received = sent ? values.data() + map.own : nullptr;
  const Sums<PetscScalar> sums = {points,
                                  map.number.host().data(),
                                  map.first.host().empty() ? nullptr : map.first.host().data(),
                                  map.source.host().data(),
                                  map.own,
                                  values.data(),
                                  received};
  size_t                  wrong = 0;
  for (size_t at = 0; at < points; at++)
    for (int s = 0; s < slots; s++) {
      const PetscScalar right = expected[(size_t)s * points + at];
      wrong += sums(s, at) != right;
    }
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("the values of a COO list are summed in their coefficients", "[capture][coo]") {
  std::mt19937        random(1);
  std::vector<Listed> rows;
  for (size_t at = 0; at < points; at++)
    for (int s = 0; s < slots; s++)
      if (s != 2 && (s != 3 || at % 7)) rows.push_back({random() % 10 ? s : -1, at}); // some are missing, some ignored
  SECTION("point by point") {
    check(rows, 0);
  }
  SECTION("all by other ranks") {
    check(rows, (PetscInt)rows.size());
  }
  SECTION("in any order") {
    std::shuffle(rows.begin(), rows.end(), random);
    check(rows, 0);
  }
  SECTION("several values of a coefficient, the last ones by other ranks") {
    const std::vector<Listed> once = rows;
    std::shuffle(rows.begin(), rows.end(), random);
    rows.insert(rows.end(), once.begin(), once.end());
    check(rows, 100);
  }
  SECTION("none") {
    check({}, 0);
  }
}
