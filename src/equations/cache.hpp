#pragma once
// Files that are made once and kept in a folder, under a hash of what they are made of.
//
// A program that is compiled here is loaded by others of the same user. So a file of the cache is taken only if no
// other user can have written it, and it has all that it is made of behind it, with a checksum.

#include <functional>
#include <string>

#include "device/petsc.hpp"

namespace shellac {

// A folder of this process alone, for temporary files. It goes with its files.
class PrivateFolder {
public:
  PrivateFolder(); // in $TMPDIR, /tmp or /var/tmp
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder &) = delete;
  PrivateFolder &operator=(const PrivateFolder &) = delete;

  const std::string &path() const { return path_; } // empty: none can be made

private:
  std::string path_;
};

// Gives all ranks the file that belongs to the first rank's `key`: take() gets its path, which may last no longer than
// the call, and its bytes. If the cache does not have it, the first rank calls make(path), which writes the file and
// returns an error or an empty string. Where the cache cannot keep it, as others can write there or the disk is full,
// the file is made each time, and -info says so. Ranks that do not see the first rank's file get a copy. Collective.
// *problem, on all ranks: that of make(); a folder that cannot be made or written, or empty. given: the folder; empty:
// from the environment. extension: of the file's name. must_keep: what the cache cannot keep is a problem.
PetscErrorCode GetCachedFile(MPI_Comm comm, const char given[], const std::string &key, const char extension[],
                             const std::function<std::string(const std::string &path)>                    &make,
                             const std::function<void(const std::string &path, const std::string &bytes)> &take,
                             std::string *problem, bool must_keep = false);

std::string hash_of(const std::string &text); // 32 digits
// Why another user could put files into a folder; empty: none could. path: absolute, without links.
std::string untrusted(const std::string &path);
// Removes the files of the cache that were used longest ago, until all have at most so many bytes; and what was left by
// programs that were stopped.
void prune_cache(const std::string &folder, long long most_bytes);

} // namespace shellac
